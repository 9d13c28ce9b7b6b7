// Paths as steps write them: `from` of an input ("db.host"), `parameterKey` ("properties.env[0].value", `labels."a.b/c"`),
// `path` of a variable. Parts are names, quoted names and numbers in brackets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::delivery::workflow {

struct PathPart {
  std::string name;
  std::optional<std::size_t> index;  // of a list item; then the name is its digits
};

/// BadRequest when it is no path but, for instance, an expression.
Result<std::vector<PathPart>> parse_path(std::string_view text);

/// What lies at the path, or null when nothing does.
const json::Value* look_up(const json::Value& value, std::string_view path);

/// `value` with `item` at the path, structs and lists made on the way. Conflict when something different is there already and
/// `replaces` is false; structs are merged.
Result<json::Value> put(const json::Value& value, std::string_view path, const json::Value& item, bool replaces);

}  // namespace slipway::delivery::workflow

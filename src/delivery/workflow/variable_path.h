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

inline constexpr std::size_t kMaxPathBytes = 4096;
inline constexpr std::size_t kMaxPathParts = 100;
/// Items that one path may make on the way to its last one: 1000 for "l[1000]" where there is no l.
inline constexpr std::size_t kMaxMadeItems = 1000;

struct PathPart {
  std::string name;
  std::optional<std::size_t> index;  // of a list item; then the name is its digits
};

/// BadRequest when it is no path but, for instance, an expression. Invalid beyond the limits above.
Result<std::vector<PathPart>> parse_path(std::string_view text);

/// What lies at the path, or null when nothing does.
const json::Value* look_up(const json::Value& value, std::string_view path);

/// `value` with `item` at the path, structs and lists made on the way. Conflict when something different is there already and
/// `replaces` is false; structs are merged. BadRequest beyond the limits above, and where the result would be nested too deep
/// to be read back. Linear in the values.
Result<json::Value> put(const json::Value& value, std::string_view path, const json::Value& item, bool replaces);

}  // namespace slipway::delivery::workflow

// YAML and the language: what scalars mean here (YAML 1.2 with a few older forms, as the language's own decoder reads them:
// only true and false are booleans, 0o7 and 07 are octal, dates are text), and values as YAML text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cue/std/registry.h"
#include "json/yaml_nodes.h"

namespace slipway::cue {

/// A scalar as a literal of the language; what yaml means by a plain text or a tag.
struct YamlScalar {
  enum class Kind : std::uint8_t { Null, Bool, Number, Text, Bytes } kind = Kind::Text;
  std::string text;  // decimal of a number; "true"; the text or bytes
  bool is_float = false;
  bool is_only_number = false;  // "!!float 3": a number without a kind of its own
};
/// BadRequest when a tag does not fit its text.
Result<YamlScalar> read_yaml_scalar(const json::YamlNode& node);
/// The text of a mapping's key.
Result<std::string> read_yaml_key(const json::YamlNode& node);
/// Keys and values of a mapping, merge keys ("<<") resolved.
struct YamlMember {
  std::string key;
  std::shared_ptr<const json::YamlNode> key_node;
  std::shared_ptr<const json::YamlNode> value;
};
Result<std::vector<YamlMember>> read_yaml_members(const json::YamlNode& mapping);

/// The value of a document.
Result<Value> yaml_value(Calls& calls, const json::YamlNode& node);
/// The text of a key, and of a string value: plain, quoted, or over several lines indented by `indent`.
enum class YamlTextForm : std::uint8_t { Any, Block, Flow };
std::string yaml_key(std::string_view name);
std::string yaml_text(std::string_view text, int indent, YamlTextForm form);

/// YAML text of a concrete value, ending in a newline; a bottom in `error` when it is not concrete.
std::string to_yaml_text(Calls& calls, const Value& value, Value& error);

}  // namespace slipway::cue

// Whatever bytes come: the readers end in a value or an error, what is printed reads back as the same value, and values obey
// their laws.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/patch.h"
#include "json/path.h"
#include "json/text.h"

namespace slipway::json {
namespace {

constexpr Limits kLimits{.max_bytes = std::size_t{64} << 10, .max_depth = 100};
// Printing writes aliases and escapes out.
constexpr Limits kWide{.max_bytes = std::size_t{16} << 20, .max_depth = 200};

void check_value(const Value& value) {
  const std::string text = print(value);
  auto again = parse(text, kWide);
  SLIPWAY_CHECK(again.has_value() && *again == value, text);
  SLIPWAY_CHECK(print(*again) == text, text);
  auto pretty = parse(print_pretty(value), kWide);
  SLIPWAY_CHECK(pretty.has_value() && *pretty == value, text);
  const std::string yaml = print_yaml(value);
  auto from_yaml = parse_yaml(yaml, kWide);
  SLIPWAY_CHECK(from_yaml.has_value() && *from_yaml == value, yaml);
  SLIPWAY_CHECK(value.depth() <= kLimits.max_depth, text);
}

void check_edits(const Value& value) {
  Value rebuilt = Value::empty_object();
  for (auto [key, member] : value.members()) rebuilt = rebuilt.with(key, member);
  SLIPWAY_CHECK(!value.is_object() || rebuilt == value);
  for (auto [key, member] : value.members()) rebuilt = rebuilt.without(key);
  SLIPWAY_CHECK(rebuilt.empty());
}

void check_patches(const Value& value) {
  const Value& from = value.item(0);
  const Value& to = value.item(1);
  (void)apply_json_patch(from, to);
  (void)apply_merge_patch(from, to);
  const Value patch = create_merge_patch(from, from);
  SLIPWAY_CHECK(!from.is_object() || patch == Value::empty_object());
}

}  // namespace
}  // namespace slipway::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto value = parse(text, kLimits)) {
    check_value(*value);
    check_edits(*value);
    check_patches(*value);
    auto yaml = parse_yaml(text, kLimits);
    // A bare scalar may stand behind a tab in JSON, not in YAML.
    SLIPWAY_CHECK(value->size() == 0 || (yaml.has_value() && *yaml == *value), text);
  }
  if (auto documents = parse_yaml_all(text, kLimits)) {
    for (const YamlDocument& document : *documents) check_value(document.value);
  }
  const std::size_t line = text.find('\n');
  if (line != std::string_view::npos) {
    auto path = Path::compile(text.substr(0, line));
    auto document = parse(text.substr(line + 1), kLimits);
    if (path && document) (void)path->print(*document, Path::Missing::Empty);
  }
  return 0;
}

// Whatever bytes come: reading ends in trees or an error, keeping gives the same bytes back, and kpt's form reads as the same
// values and is a fixed point of values.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "krm/yaml_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  using namespace slipway::krm;
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto kept = KeptYaml::parse(text);
  if (!kept) return 0;
  SLIPWAY_CHECK(kept->text() == text, text);
  for (const YamlTree& tree : kept->documents()) {
    auto value = to_value(tree.root);
    if (!value) continue;
    const std::string printed = write_yaml(tree);
    auto again = read_yaml(printed);
    SLIPWAY_CHECK(again.has_value(), text + "\n=>\n" + printed);
    if (again->empty()) continue;
    SLIPWAY_CHECK(again->size() == 1, text + "\n=>\n" + printed);
    auto read = to_value(again->front().root);
    SLIPWAY_CHECK(read.has_value() && *read == *value, text + "\n=>\n" + printed);
  }
  const std::string path[] = {"a", "b"};
  if (!kept->documents().empty() && kept->set(0, path, json::Value("x"))) {
    auto root = value_or_null(kept->documents()[0].root);
    SLIPWAY_CHECK(root.is_array() || root["a"].is_array() || root["a"]["b"] == json::Value("x"), kept->text());
    (void)kept->remove(0, path);
  }
  return 0;
}

#include "kube/corpus_test.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::kube {
namespace {

Result<json::Value> documents(const std::string& text) {
  SLIPWAY_TRY(all, json::parse_yaml_all(text));
  json::ArrayBuilder out;
  for (json::YamlDocument& document : all) out.add(std::move(document.value));
  return out.build();
}

}  // namespace

json::Value corpus_value(const std::string& path) {
  const auto text = corpus_file(path);
  if (!text) return {};
  const auto value = path.ends_with(".yaml") ? documents(*text) : json::parse(*text, {.max_bytes = std::size_t{64} << 20});
  EXPECT_TRUE(value.has_value()) << path;
  return value ? *value : json::Value();
}

}  // namespace slipway::kube

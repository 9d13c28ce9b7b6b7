#include "kube/corpus_test.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

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
  const char* root = std::getenv("SLIPWAY_CORPUS");
  std::vector<std::string> folders = {"../shared/corpus", "../../shared/corpus"};
  if (root != nullptr) folders = {root};
  for (const std::string& folder : folders) {
    std::ifstream file(folder + "/" + path);
    if (!file) continue;
    std::stringstream text;
    text << file.rdbuf();
    const auto value =
        path.ends_with(".yaml") ? documents(text.str()) : json::parse(text.str(), {.max_bytes = std::size_t{64} << 20});
    EXPECT_TRUE(value.has_value()) << path;
    return value ? *value : json::Value();
  }
  return {};
}

}  // namespace slipway::kube

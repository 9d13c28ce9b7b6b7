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

std::set<std::string> known_failures(const std::string& suite) {
  std::set<std::string> ids;
  for (const std::string folder : {"", "../", "../../"}) {
    std::ifstream file(folder + "tests/known_failures/kube_" + suite + ".txt");
    for (std::string line; std::getline(file, line);) {
      const std::size_t end = line.find("  #");
      if (end != std::string::npos) ids.insert(line.substr(0, end));
    }
    if (!ids.empty()) break;
  }
  return ids;
}

}  // namespace slipway::kube

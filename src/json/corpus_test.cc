#include "json/corpus_test.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

namespace slipway::json {

std::optional<std::string> corpus(const std::string& path) {
  const char* root = std::getenv("SLIPWAY_CORPUS");
  std::vector<std::string> folders = {"../shared/corpus", "../../shared/corpus"};
  if (root != nullptr) folders = {root};
  for (const std::string& folder : folders) {
    std::ifstream file(folder + "/" + path);
    if (!file) continue;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  return std::nullopt;
}

}  // namespace slipway::json

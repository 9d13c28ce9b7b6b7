// Where tests of this room find the conformance data: $SLIPWAY_CORPUS, or beside the source tree.
#pragma once

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace slipway::json {

/// The text of a file below the corpus; nullopt when there is no corpus.
inline std::optional<std::string> corpus(const std::string& path) {
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

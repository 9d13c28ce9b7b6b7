#include "cel/corpus_test.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace slipway::cel {

namespace fs = std::filesystem;

fs::path corpus(const std::string& below) {
  if (const char* root = std::getenv("SLIPWAY_CORPUS")) return fs::path(root) / below;
  for (const char* up : {"../shared/corpus", "../../shared/corpus"}) {
    if (fs::exists(fs::path(up) / below)) return fs::path(up) / below;
  }
  return {};
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The first words of the lines of tests/known_failures/<suite>.txt.
std::set<std::string> known_failures(const std::string& suite) {
  std::set<std::string> ids;
  for (const char* up : {"", "../", "../../"}) {
    std::ifstream in(fs::path(up) / "tests/known_failures" / (suite + ".txt"));
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line[0] != '#') ids.insert(line.substr(0, line.find(' ')));
    }
    if (!ids.empty()) break;
  }
  return ids;
}

}  // namespace slipway::cel

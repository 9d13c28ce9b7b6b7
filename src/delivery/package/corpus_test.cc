#include "delivery/package/corpus_test.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace slipway::delivery::package {
namespace {

namespace fs = std::filesystem;

fs::path root() {
  const char* given = std::getenv("SLIPWAY_CORPUS");
  if (given != nullptr) return fs::path(given) / "packages";
  for (const char* beside : {"../shared/corpus/packages", "../../shared/corpus/packages"}) {
    if (fs::exists(beside)) return beside;
  }
  return {};
}

}  // namespace

std::optional<std::string> corpus_file(const std::string& name) {
  std::ifstream in(root() / name);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::set<std::string> known_failures() {
  std::set<std::string> known;
  for (const char* up : {".", "..", "../.."}) {
    std::ifstream in(fs::path(up) / "tests/known_failures/package.txt");
    for (std::string line; std::getline(in, line);) {
      if (line.find("  # ") != std::string::npos) known.insert(line.substr(0, line.find("  # ")));
    }
    if (!known.empty()) break;
  }
  return known;
}

Suite::~Suite() { fmt::print("conformance: {} {}/{}\n", name_, passed_, total_); }

}  // namespace slipway::delivery::package

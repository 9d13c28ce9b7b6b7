#include "delivery/pipeline/corpus_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace slipway::delivery::pipeline {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

fs::path root() {
  const char* given = std::getenv("SLIPWAY_CORPUS");
  if (given != nullptr) return fs::path(given) / "pipelines";
  for (const char* beside : {"../shared/corpus/pipelines", "../../shared/corpus/pipelines"}) {
    if (fs::exists(beside)) return beside;
  }
  return {};
}

}  // namespace

std::vector<CorpusFile> corpus_folder(const std::string& folder) {
  std::vector<CorpusFile> files;
  if (!fs::exists(root() / folder)) return files;
  for (const auto& entry : fs::directory_iterator(root() / folder)) {
    files.push_back({.name = entry.path().filename().string(), .text = read(entry.path())});
  }
  std::ranges::sort(files, {}, &CorpusFile::name);
  return files;
}

std::optional<std::string> corpus_file(const std::string& name) {
  const fs::path path = root() / name;
  return fs::exists(path) ? std::optional(read(path)) : std::nullopt;
}

std::set<std::string> known_failures() {
  std::set<std::string> known;
  for (const char* up : {".", "..", "../.."}) {
    std::ifstream in(fs::path(up) / "tests/known_failures/pipeline.txt");
    for (std::string line; std::getline(in, line);) {
      if (line.find("  # ") != std::string::npos) known.insert(line.substr(0, line.find("  # ")));
    }
    if (!known.empty()) break;
  }
  return known;
}

Suite::~Suite() { fmt::print("conformance: {} {}/{}\n", name_, passed_, total_); }

}  // namespace slipway::delivery::pipeline

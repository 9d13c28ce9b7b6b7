#include "delivery/pipeline/corpus_test.h"

#include <algorithm>

namespace slipway::delivery::pipeline {

namespace fs = std::filesystem;

std::vector<CorpusFile> corpus_folder(const std::string& folder) {
  std::vector<CorpusFile> files;
  const fs::path path = corpus_path("pipelines/" + folder);
  if (path.empty()) return files;
  for (const auto& entry : fs::directory_iterator(path)) {
    files.push_back({.name = entry.path().filename().string(), .text = text_of_file(entry.path())});
  }
  std::ranges::sort(files, {}, &CorpusFile::name);
  return files;
}

}  // namespace slipway::delivery::pipeline

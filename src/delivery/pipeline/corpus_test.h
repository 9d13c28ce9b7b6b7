// The pipeline part of the corpus, for the tests of this room.
#pragma once

#include <string>
#include <vector>

#include "base/corpus_test.h"

namespace slipway::delivery::pipeline {

struct CorpusFile {
  std::string name;
  std::string text;
};

/// The files of a folder of the corpus's pipelines by name; empty when there is no corpus.
std::vector<CorpusFile> corpus_folder(const std::string& folder);

}  // namespace slipway::delivery::pipeline

// The pipeline part of the corpus, for the tests of this room, and the list of what is known to differ.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slipway::delivery::pipeline {

struct CorpusFile {
  std::string name;
  std::string text;
};

/// The files of a folder of $SLIPWAY_CORPUS/pipelines by name; empty when there is no corpus.
std::vector<CorpusFile> corpus_folder(const std::string& folder);
/// One file; nullopt when there is no corpus.
std::optional<std::string> corpus_file(const std::string& name);

/// The first words of the lines of tests/known_failures/pipeline.txt. The list may only shrink.
std::set<std::string> known_failures();

/// Counts the cases of a suite; at its end the line "suite passed/total" is printed.
class Suite {
 public:
  explicit Suite(std::string name) : name_(std::move(name)) {}
  ~Suite();
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;
  void count(bool has_passed) {
    ++total_;
    passed_ += has_passed ? 1 : 0;
  }
  double share() const { return total_ == 0 ? 0 : static_cast<double>(passed_) / static_cast<double>(total_); }

 private:
  std::string name_;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
};

}  // namespace slipway::delivery::pipeline

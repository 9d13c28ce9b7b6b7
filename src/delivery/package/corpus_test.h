// The package part of the corpus, for the tests of this room, and the list of what is known to differ.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace slipway::delivery::package {

/// A file of $SLIPWAY_CORPUS/packages; nullopt when there is no corpus.
std::optional<std::string> corpus_file(const std::string& name);

/// The first words of the lines of tests/known_failures/package.txt. The list may only shrink.
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

 private:
  std::string name_;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
};

}  // namespace slipway::delivery::package

// The package part of the corpus, for the tests of this room.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/corpus_test.h"
#include "json/value.h"
#include "krm/package.h"

namespace slipway::krm {

/// The names of the folders in a folder of $SLIPWAY_CORPUS/packages; empty when there is no corpus.
std::vector<std::string> corpus_cases(const std::string& folder);
/// All files of a folder, without ".expected/".
Files corpus_files(const std::string& folder);
/// The list `cases` of tables/NAME.yaml.
std::vector<json::Value> corpus_table(const std::string& name);

/// A unified diff as git writes it (new, deleted and renamed files), applied; nullopt when it does not fit.
std::optional<Files> apply_diff(Files files, std::string_view diff);

/// Counts the cases of a suite and holds tests/known_failures/package.txt to it: a case that differs must stand there as
/// "suite/case  # reason", one that passes must not. At its end the line "suite passed/total" is printed.
class Suite {
 public:
  explicit Suite(std::string name);
  ~Suite();
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;
  /// `difference` is empty for a pass.
  void judge(const std::string& name, const std::string& difference);

 private:
  std::string name_;
  std::set<std::string> known_;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
};

/// Empty when equal; else the first file and line that differ.
std::string difference(const Files& got, const Files& expected);
std::string difference(std::string_view got, std::string_view expected);
std::string trimmed(std::string_view text);

}  // namespace slipway::krm

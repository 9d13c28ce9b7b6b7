// Where tests find the conformance data, which is not part of the sources, what of it is known to differ, and how passes are
// counted. The corpus is $SLIPWAY_CORPUS, or beside the source tree, seen from it or from a build folder in it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace slipway {

/// A file or folder below the corpus ("kube/cel-spec"); empty when it is not there.
inline std::filesystem::path corpus_path(const std::string& below) {
  const char* given = std::getenv("SLIPWAY_CORPUS");
  for (std::filesystem::path root : {given == nullptr ? "../shared/corpus" : given, "../../shared/corpus"}) {
    if (std::filesystem::exists(root / below)) return root / below;
    if (given != nullptr) break;
  }
  return {};
}

/// The text of a file of any size; empty when it cannot be read.
inline std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The text of a file below the corpus; nullopt when it is not there.
inline std::optional<std::string> corpus_file(const std::string& below) {
  const std::filesystem::path path = corpus_path(below);
  return path.empty() ? std::nullopt : std::optional(text_of_file(path));
}

/// The ids in tests/known_failures/LIST.txt ("id  # reason" per line). The list may only shrink.
inline std::set<std::string> known_failures(const std::string& list) {
  std::set<std::string> ids;
  for (const char* up : {"", "../", "../../"}) {
    std::ifstream in(up + ("tests/known_failures/" + list + ".txt"));
    for (std::string line; std::getline(in, line);) {
      if (const auto end = line.find("  #"); end != std::string::npos) ids.insert(line.substr(0, end));
    }
    if (!ids.empty()) break;
  }
  return ids;
}

/// Counts the cases of a suite; at its end the line "conformance: NAME passed/total" is printed.
class CountedSuite {
 public:
  explicit CountedSuite(std::string name) : name_(std::move(name)) {}
  ~CountedSuite() { std::printf("conformance: %s %zu/%zu\n", name_.c_str(), passed_, total_); }
  CountedSuite(const CountedSuite&) = delete;
  CountedSuite& operator=(const CountedSuite&) = delete;

  void count(bool has_passed) {
    ++total_;
    passed_ += has_passed ? 1 : 0;
  }
  /// Of the cases that passed; 0 of none.
  double share() const { return total_ == 0 ? 0 : static_cast<double>(passed_) / static_cast<double>(total_); }

 private:
  std::string name_;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
};

}  // namespace slipway

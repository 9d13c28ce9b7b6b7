// The conformance data of this room and the count of what passes. What is known not to pass stands, with its reason, in
// tests/known_failures/cue_<suite>.txt ("id: reason" per line); that list may only shrink: a case that passes while it is
// listed fails the test as much as one that fails while it is not.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/corpus_test.h"
#include "json/text.h"

namespace slipway::cue::testing {

/// Opens the first of these below the source tree, seen from it or from a build folder in it.
inline std::ifstream open_beside_sources(const std::string& path) {
  for (const char* up : {"", "../", "../../"}) {
    std::ifstream in(up + path);
    if (in) return in;
  }
  return {};
}

/// Rows of a file of the corpus; empty when there is no corpus.
inline std::vector<json::Value> corpus_rows(const std::string& name) {
  std::ifstream in(corpus_path("cue/" + name));
  std::vector<json::Value> rows;
  for (std::string line; std::getline(in, line);) {
    auto row = json::parse(line, {.max_bytes = std::size_t{64} << 20});
    if (row) rows.push_back(*row);
  }
  return rows;
}

/// A file of the corpus that is one JSON value; null when there is no corpus.
inline json::Value corpus_json(const std::string& name) {
  auto value = json::parse(corpus_file("cue/" + name).value_or(""));
  return value ? *value : json::Value();
}

/// Text of a corpus string; {"bytes": […]} where the case is no UTF-8.
inline std::string corpus_text(const json::Value& value) {
  if (value.is_string()) return value.str();
  std::string out;
  for (const json::Value& byte : value["bytes"].items()) out += static_cast<char>(byte.as_int());
  return out;
}

class Suite {
 public:
  explicit Suite(std::string name) : name_(std::move(name)) {
    std::ifstream in = open_beside_sources("tests/known_failures/cue_" + name_ + ".txt");
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      known_[line.substr(0, line.find(": "))] = true;
    }
  }
  ~Suite() {
    std::cout << "conformance: cue/" << name_ << " " << passed_ << "/" << total_ << std::endl;
    if (const char* path = std::getenv("SLIPWAY_KNOWN_FAILURES")) {
      std::ofstream out(std::string(path) + "/cue_" + name_ + ".txt");
      for (const std::string& line : failures_) out << line << "\n";
    }
  }

  /// `why` is empty when the case passed.
  void record(std::string id, std::string why) {
    // ": " ends an id in the lists.
    for (auto at = id.find(": "); at != std::string::npos; at = id.find(": ")) id.erase(at + 1, 1);
    ++total_;
    if (why.empty()) {
      ++passed_;
      if (known_.contains(id)) ADD_FAILURE() << id << " passes: take it off the list of known failures";
      return;
    }
    for (char& c : why) {
      if (c == '\n') c = ' ';
    }
    failures_.push_back(id + ": " + why.substr(0, 160));
    if (!known_.contains(id)) ADD_FAILURE() << id << ": " << why;
  }

 private:
  std::string name_;
  std::map<std::string, bool> known_;
  std::vector<std::string> failures_;
  int passed_ = 0;
  int total_ = 0;
};

}  // namespace slipway::cue::testing

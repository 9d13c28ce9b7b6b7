// What the real KubeVela did with each manifest of the corpus (kubevela/ORACLE.md): the lines of oracle.jsonl that have a
// target, by manifest, and the documents that were applied. A manifest with two lines ended in two ways; either is right.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "json/value.h"

namespace slipway::oracle_test {

using json::Value;

/// The namespace of a case: "$NS" in the corpus.
inline constexpr const char* kNamespace = "c-oracle";

/// What a manifest shows: it reaches the end that it is written for, fails for good, or waits for something that is missing.
enum class Class : std::uint8_t { Runs, Fails, Waits };
std::string_view name_of(Class of);
inline constexpr Class kClasses[] = {Class::Runs, Class::Fails, Class::Waits};

struct Case {
  std::string file;
  std::vector<Value> lines;  // with kNamespace for $NS; at least one
  std::string difference;    // why the expected result is our own; empty: it is the oracle's

  /// By the first line.
  Class kind() const;
  /// Where documents without a namespace go.
  std::string ns() const { return lines.front()["ctx"].str(); }
};

/// Empty without a corpus.
std::filesystem::path corpus_folder();
/// In the order of the corpus.
std::vector<Case> read_cases(const std::filesystem::path& folder);

/// Deliberate differences: rows "FILE | reason | {members of a line}", or a JSON Patch of it. The members replace those of the
/// first line, and that line is then the only one that counts. Gives the rows that are wrong: no such file, no JSON, no reason.
std::vector<std::string> add_differences(std::vector<Case>& cases, const std::filesystem::path& table);

/// What is applied, in order: definitions first. `extra` files come before the manifest in both.
struct Documents {
  std::vector<Value> definitions;
  std::vector<Value> rest;
  std::vector<std::string> faults;  // files that could not be read
};
Documents read_documents(const std::filesystem::path& folder, const Case& of);

}  // namespace slipway::oracle_test

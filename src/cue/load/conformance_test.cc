// Conformance of the commands: the corpus' command lines over eval, export and vet, and those of the documentation.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <map>

#include "base/memory_files.h"
#include "cue/corpus_test.h"
#include "cue/load/command.h"
#include "cue/load/paths.h"

namespace slipway::cue::load {
namespace {

using cue::testing::corpus_rows;
using cue::testing::Suite;

/// Why a row is not ours to answer; empty when it is. Registries, TOML and protobuf are out, as are WASM and the experiments of
/// language v0.15 and later that a file or a variable asks for. What was read from a pipe that was not recorded cannot be
/// judged.
std::string why_out(const json::Value& row) {
  std::string said = json::print(row["args"]) + json::print(row["env"]["CUE_EXPERIMENT"]);
  for (const char* word : {"toml", "proto", "+pb", "aliasv2", "explicitopen", "openapiv2"}) {
    if (said.find(word) != std::string::npos) return "TOML, protobuf, experiments";
  }
  bool reads_input = false;
  for (const json::Value& one : row["args"].items()) reads_input = reads_input || one.as_string() == "-";
  if (reads_input && !row["stdin"].is_string()) return "standard input that was not recorded";
  for (auto [name, text] : row["files"].members()) {
    std::string_view content = text.as_string();
    if (name.starts_with("_registry")) return "registries";
    if (name.ends_with(".toml") || name.ends_with(".proto") || content.find("\"encoding/toml\"") != std::string_view::npos)
      return "TOML, protobuf";
    if (content.find("@experiment(") != std::string_view::npos || content.find("@extern(wasm") != std::string_view::npos)
      return "experiments, WASM";
  }
  return "";
}

bool is_verb(std::string_view word) { return word == "eval" || word == "export" || word == "vet"; }

bool is_ours(const json::Value& row) {
  const json::Value& args = row["args"];
  std::string_view first = args.item(0).as_string();
  std::size_t at = first == "-C" ? 2 : first.starts_with("-C=") ? 1 : 0;
  return at < args.size() && is_verb(args.item(at).as_string());
}

/// The arguments of an earlier command that is one of ours: "exec cue export x.cue".
std::vector<std::string> arguments_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  if (!words.empty() && words[0] == "!") words.erase(words.begin());
  if (words.size() < 3 || words[0] != "exec" || words[1] != "cue" || !is_verb(words[2])) return {};
  words.erase(words.begin(), words.begin() + 2);
  return words;
}

// Several values one after another.
std::vector<json::Value> json_stream(std::string_view text, bool& ok) {
  std::vector<json::Value> out;
  ok = true;
  std::string all = "[";
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    all += c;
    if (in_string) {
      if (c == '\\') all += text[++i];
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (depth == 0 && c == '\n' && text.find_first_not_of(" \n", i) != std::string_view::npos) all += ',';
  }
  auto parsed = json::parse(all + "]", {.max_bytes = std::size_t{64} << 20});
  ok = parsed.has_value();
  if (ok) {
    for (const json::Value& one : parsed->items()) out.push_back(one);
  }
  return out;
}

std::string judge_text(const json::Value& expect, const std::string& name, const std::string& got) {
  if (expect.has(name) && expect[name].as_string() != got) return "want " + name + " " + expect[name].str() + ", got " + got;
  for (const json::Value& pattern : expect[name + "_re"].items()) {
    if (!RE2::PartialMatch(got, RE2("(?m)" + pattern.str()))) return name + " does not match " + pattern.str() + ": " + got;
  }
  for (const json::Value& pattern : expect[name + "_not_re"].items()) {
    if (RE2::PartialMatch(got, RE2("(?m)" + pattern.str()))) return name + " matches " + pattern.str();
  }
  return "";
}

std::string judge(const json::Value& row) {
  MemoryFiles files;
  for (auto [name, text] : row["files"].members()) {
    std::string path = joined("/w", name);
    (void)files.make_folders(parent(path));
    (void)files.write(path, cue::testing::corpus_text(text), 0644);
  }
  std::string cwd = joined("/w", row["cwd"].str().empty() ? "." : row["cwd"].str());
  (void)files.make_folders(cwd);
  Invocation invocation;
  for (const json::Value& one : row["args"].items()) invocation.arguments.push_back(one.str());
  invocation.cwd = cwd;
  invocation.input = row["stdin"].str();
  invocation.variables = {{"os", "linux"}, {"cwd", cwd}, {"now", "2020-01-01T00:00:00Z"}, {"rand", "4"}};
  for (const json::Value& one : row["pre"].items()) {
    Invocation before;
    before.arguments = arguments_of(one.as_string());
    before.cwd = cwd;
    if (!before.arguments.empty()) (void)run_command(files, before);
  }
  Outcome outcome = run_command(files, invocation);
  const json::Value& expect = row["expect"];
  bool wants_zero = expect["exit"].as_string() == "zero";
  if (wants_zero != (outcome.code == 0)) return (wants_zero ? "fails: " : "does not fail: ") + outcome.errors + outcome.output;
  bool is_stream = false;
  if (expect.has("stdout_json") && expect["stdout"].as_string() != outcome.output) {
    std::vector<json::Value> got = json_stream(outcome.output, is_stream);
    bool same = is_stream && got.size() == expect["stdout_json"].size();
    for (std::size_t i = 0; same && i < got.size(); ++i) same = got[i] == expect["stdout_json"].item(i);
    if (!same) return "got " + outcome.output;
  } else if (std::string why = judge_text(expect, "stdout", outcome.output); !why.empty()) {
    return why;
  }
  if (std::string why = judge_text(expect, "stderr", outcome.errors); !why.empty()) return why;
  for (auto [name, text] : expect["files"].members()) {
    auto got = files.read(joined(cwd, name));
    if (!got || *got != text.as_string()) return "file " + std::string(name) + " differs";
  }
  return "";
}

void run_suite(const std::string& name) {
  auto rows = corpus_rows(name + ".jsonl");
  if (rows.empty()) GTEST_SKIP() << "skipped: corpus not found";
  Suite suite(name);
  std::map<std::string, int> apart;
  for (const json::Value& row : rows) {
    std::string why = is_ours(row) ? why_out(row) : "other commands";
    if (why.empty())
      suite.record(row["id"].str(), judge(row));
    else
      ++apart[why];
  }
  for (const auto& [why, count] : apart) std::cout << "counted apart: " << count << " (" << why << ")" << std::endl;
}

TEST(CommandConformance, command_lines_answer_as_recorded) { run_suite("cli"); }
TEST(CommandConformance, command_lines_of_the_documentation_answer_as_shown) { run_suite("docs"); }

}  // namespace
}  // namespace slipway::cue::load

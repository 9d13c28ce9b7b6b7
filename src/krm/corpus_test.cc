#include "krm/corpus_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/corpus_test.h"
#include "json/text.h"

namespace slipway::krm {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> made;
  while (!text.empty()) {
    const std::size_t stop = text.find('\n');
    made.emplace_back(text.substr(0, stop));
    text = stop == std::string_view::npos ? std::string_view() : text.substr(stop + 1);
  }
  return made;
}

// One file's hunks; false when a line that must be there is not.
bool patch(std::vector<std::string>& lines, const std::vector<std::string>& diff, std::size_t& at) {
  std::ptrdiff_t shift = 0;
  while (at < diff.size() && diff[at].starts_with("@@ ")) {
    const std::ptrdiff_t start = std::strtol(diff[at].c_str() + 4, nullptr, 10);
    std::ptrdiff_t place = std::max<std::ptrdiff_t>(0, start - 1) + shift;
    if (diff[at].starts_with("@@ -0,0")) place = 0;
    for (++at; at < diff.size() && !diff[at].starts_with("@@ ") && !diff[at].starts_with("diff --git"); ++at) {
      const std::string& line = diff[at];
      if (line.starts_with('\\')) continue;
      const std::string text = line.empty() ? "" : line.substr(1);
      const bool is_there = place < static_cast<std::ptrdiff_t>(lines.size()) && lines[static_cast<std::size_t>(place)] == text;
      if (line.starts_with('+')) {
        lines.insert(lines.begin() + place, text);
        ++place;
        ++shift;
      } else if (line.starts_with('-')) {
        if (!is_there) return false;
        lines.erase(lines.begin() + place);
        --shift;
      } else {
        if (!is_there) return false;
        ++place;
      }
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> corpus_cases(const std::string& folder) {
  std::vector<std::string> made;
  const fs::path base = corpus_path("packages/" + folder);
  if (base.empty()) return made;
  for (const auto& entry : fs::directory_iterator(base)) made.push_back(entry.path().filename().string());
  std::ranges::sort(made);
  return made;
}

Files corpus_files(const std::string& folder) {
  Files made;
  const fs::path base = corpus_path("packages/" + folder);
  if (base.empty()) return made;
  for (const auto& entry : fs::recursive_directory_iterator(base)) {
    const std::string path = fs::relative(entry.path(), base).string();
    if (entry.is_regular_file() && !path.starts_with(".expected/")) made[path] = text_of_file(entry.path());
  }
  return made;
}

std::vector<json::Value> corpus_table(const std::string& name) {
  const auto text = corpus_file("packages/tables/" + name + ".yaml");
  if (!text) return {};
  auto value = json::parse_yaml(*text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
  if (!value) return {};
  const json::Value cases = (*value)["cases"];
  return {cases.items().begin(), cases.items().end()};
}

std::optional<Files> apply_diff(Files files, std::string_view text) {
  const std::vector<std::string> diff = lines_of(text);
  for (std::size_t at = 0; at < diff.size();) {
    if (!diff[at].starts_with("diff --git a/")) {
      ++at;
      continue;
    }
    const std::size_t middle = diff[at].find(" b/");
    const std::string from = diff[at].substr(13, middle - 13);
    const std::string to = diff[at].substr(middle + 3);
    bool is_deleted = false;
    for (++at; at < diff.size() && !diff[at].starts_with("@@ ") && !diff[at].starts_with("diff --git"); ++at) {
      is_deleted = is_deleted || diff[at].starts_with("deleted file");
    }
    std::vector<std::string> lines = lines_of(files[from]);
    if (!patch(lines, diff, at)) return std::nullopt;
    files.erase(from);
    if (is_deleted) continue;
    std::string made;
    for (const std::string& line : lines) made += line + "\n";
    files[to] = made;
  }
  return files;
}

Suite::Suite(std::string name) : name_(std::move(name)), known_(known_failures("package")) {}

Suite::~Suite() {
  if (total_ > 0) fmt::print("conformance: package/{} {}/{}\n", name_, passed_, total_);
}

void Suite::judge(const std::string& name, const std::string& difference) {
  ++total_;
  passed_ += difference.empty() ? 1 : 0;
  const bool is_known = known_.contains(name_ + "/" + name);
  EXPECT_EQ(is_known, !difference.empty()) << name_ << "/" << name
                                           << (is_known ? " passes now: take it off the list" : ": " + difference);
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n\t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \n\t") - first + 1));
}

std::string difference(std::string_view got, std::string_view expected) {
  if (got == expected) return "";
  return fmt::format("got:\n{}\nexpected:\n{}", got, expected);
}

std::string difference(const Files& got, const Files& expected) {
  for (const auto& [path, text] : expected) {
    const auto found = got.find(path);
    if (found == got.end()) return "missing " + path;
    if (found->second != text) return path + " " + difference(found->second, text);
  }
  for (const auto& [path, text] : got) {
    if (!expected.contains(path)) return "beside the expected: " + path + "\n" + text;
  }
  return "";
}

}  // namespace slipway::krm

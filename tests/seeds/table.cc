#include "table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace slipway::seeds_test {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == '\t') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Adds "Suite.name" of each TEST, TEST_F, TEST_P at the beginning of a line.
void add_tests(const std::string& text, std::set<std::string>& tests) {
  for (std::size_t at = text.find("TEST"); at != std::string::npos; at = text.find("TEST", at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    const std::size_t open = text.find('(', at);
    const std::size_t end = text.find(')', at);
    if (open == std::string::npos || end == std::string::npos || open > at + 7) continue;
    std::string name;
    for (const char c : text.substr(open + 1, end - open - 1)) {
      if (is_word(c)) name += c;
      if (c == ',') name += '.';
    }
    if (!name.contains("DISABLED_")) tests.insert(name);
  }
}

}  // namespace

std::vector<Promise> read_promises(const fs::path& file) {
  std::vector<Promise> rows;
  std::istringstream in(text_of(file));
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (++number == 1 || line.empty()) continue;  // the names of the columns
    const std::vector<std::string> cells = cells_of(line);
    EXPECT_EQ(cells.size(), 6U) << file << ":" << number << ": seed, place, quote, state, test, docs: " << line;
    if (cells.size() != 6) continue;
    rows.push_back({number, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]});
  }
  return rows;
}

std::set<std::string> tests_of(const fs::path& root, std::string_view program) {
  std::set<std::string> tests;
  if (!program.ends_with("_test")) return tests;
  std::string room(program.substr(0, program.size() - 5));
  fs::path folder = root / "tests" / room;
  if (!fs::exists(folder)) {
    if (room.starts_with("delivery_")) room[std::string_view("delivery").size()] = '/';
    folder = root / "src" / room;
  }
  if (!fs::exists(folder)) return tests;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cc") add_tests(text_of(entry.path()), tests);
  }
  return tests;
}

std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> anchors;
  std::istringstream in(text_of(page));
  bool is_code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code || !line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(std::min(line.find_first_not_of('#'), line.size()))) {
      if (c == ' ' && !anchor.empty()) anchor += '-';
      if (is_word(c) || c == '-') anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

std::string normalised(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space) out += c;
    if (is_space && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

}  // namespace slipway::seeds_test

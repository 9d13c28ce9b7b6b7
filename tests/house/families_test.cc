// Kinds, plurals and groups of a family are named in its own room only: everything else reads the families' table.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "literals.h"

namespace slipway::house {
namespace {

namespace fs = std::filesystem;

std::vector<OwnNames> all_names() {
  std::vector<OwnNames> all;
  for (const delivery::Family* family : plane::families()) all.push_back(own_names(*family));
  return all;
}

bool is_source(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool is_test = name.contains("_test.") || name.ends_with("_fuzz.cc");
  return !is_test && (name.ends_with(".cc") || name.ends_with(".h") || name.ends_with(".inc"));
}

TEST(Families, nothing_outside_the_room_of_a_family_names_its_kinds) {
  const fs::path root = SLIPWAY_SOURCE_DIR;
  const std::vector<OwnNames> names = all_names();
  std::size_t seen = 0;
  for (const char* folder : {"src", "tools", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      ++seen;
      std::ifstream in(entry.path());
      std::stringstream text;
      text << in.rdbuf();
      const std::string path = fs::relative(entry.path(), root).string();
      for (const std::string& found : foreign_names(path, text.str(), names)) ADD_FAILURE() << path << ":" << found;
    }
  }
  EXPECT_GT(seen, 100U);
}

TEST(Families, every_family_has_the_room_that_its_name_says) {
  for (const OwnNames& names : all_names()) {
    EXPECT_TRUE(fs::is_directory(fs::path(SLIPWAY_SOURCE_DIR) / names.room)) << names.room;
    EXPECT_FALSE(names.words.empty()) << names.room;
  }
}

/// The rule on a source that breaks it in each way, with the names of the first family as its definitions have them.
TEST(Families, planted_names_are_found) {
  const std::vector<OwnNames> names = all_names();
  ASSERT_FALSE(names.empty());
  const OwnNames& first = names.front();
  const std::string& kind = first.words.at(0);
  const std::string& plural = first.words.at(1);
  const std::string& group = first.groups.at(0);
  const std::string source = "// \"" + kind + "\" in a comment\nif (kind == \"" + kind + "\") { /* \"" + plural +
                             "\" */\n  x = '\"';\n  y = \"" + plural + "\";\n  z = R\"(\napiVersion: " + group +
                             "/v1)\";\n  path = \"/apis/" + group + "\";\n  said = \"the \\\"" + kind +
                             "\\\" has ended\"; n = 1'000;\n}\n";
  const auto told = [&](const std::string& line, const std::string& text) {
    return line + ": \"" + text + "\" belongs to " + first.room;
  };
  EXPECT_EQ(foreign_names("src/cli/planted.cc", source, names),
            (std::vector<std::string>{told("2", kind), told("4", plural), told("5", "\napiVersion: " + group + "/v1"),
                                      told("7", "/apis/" + group)}));
  EXPECT_TRUE(foreign_names(first.room + "planted.cc", source, names).empty());
}

TEST(Families, literals_are_read_as_a_compiler_reads_them) {
  const auto literals = string_literals("f(\"a\\\"b\", 'c', 10'000, \"d\"); // \"e\"\n/* \"f\" */ g(R\"x(\")x\", u8\"h\");");
  std::vector<std::string> texts;
  for (const Literal& literal : literals) texts.push_back(std::to_string(literal.line) + literal.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"1a\\\"b", "1d", "2\"", "2h"}));
}

}  // namespace
}  // namespace slipway::house

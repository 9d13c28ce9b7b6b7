#include "krm/yaml_tree.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::krm {
namespace {

std::string formatted(std::string_view text) {
  auto trees = read_yaml(text);
  EXPECT_TRUE(trees.has_value()) << (trees ? "" : trees.error().message);
  return trees ? write_yaml(*trees) : "";
}

std::string kept_set(std::string text, std::vector<std::string> path, const json::Value& value) {
  auto kept = KeptYaml::parse(std::move(text));
  if (!kept) return kept.error().message;
  auto done = kept->set(0, path, value);
  return done ? kept->text() : done.error().message;
}

std::string kept_remove(std::string text, std::vector<std::string> path) {
  auto kept = KeptYaml::parse(std::move(text));
  if (!kept) return kept.error().message;
  auto done = kept->remove(0, path);
  return done ? kept->text() : done.error().message;
}

TEST(YamlTree, reads_the_text_of_an_absent_value_as_empty) { EXPECT_TRUE(read_yaml(std::string_view()).has_value()); }

TEST(YamlTree, writes_as_kpt_does) {
  // What kpt 1.0.0-beta.56 makes of this text in a round through a function that changes nothing.
  EXPECT_EQ(formatted("# lic\n\na: 1 # l\n\n# mid\n\nb:\n  c:   'x'\n  # foot of c\n\n# between\n\nd: {a: b,\n  c: [1,2]}\n"
                      "e:\n  - x\n  # about y\n  - y\n  # foot\n\nf: ~\n# end\n\n# last\n"),
            "# lic\na: 1 # l\n# mid\nb:\n  c: 'x'\n  # foot of c\n# between\nd: {a: b, c: [1, 2]}\n"
            "e:\n  - x\n  # about y\n  - y\n  # foot\nf: ~\n# end\n\n# last\n");
}

TEST(YamlTree, keeps_quotes_and_blocks_but_folds_nothing) {
  EXPECT_EQ(formatted("a: \"1\"\nb: 'it''s'\nc: |+\n  keep\n\nd: |2\n   two\n  x\ne: \"a\\tb\"\n"),
            "a: \"1\"\nb: 'it''s'\nc: |+\n  keep\n\nd: |2\n   two\n  x\ne: \"a\\tb\"\n");
  EXPECT_EQ(formatted("a: >\n  one\n  two\n"), "a: \"one two\\n\"\n");
}

TEST(YamlTree, takes_the_indentation_of_lists_from_the_first_one) {
  EXPECT_EQ(formatted("a:\n- x\nb:\n  - y\n"), "a:\n- x\nb:\n- y\n");
  EXPECT_EQ(formatted("a:\n  - x\nb:\n- y\n"), "a:\n  - x\nb:\n  - y\n");
  EXPECT_EQ(formatted("a:\n  # about x\n  - x\n"), "a:\n  # about x\n  - x\n");
}

TEST(YamlTree, quotes_text_that_would_read_as_something_else) {
  Node made = Node::mapping();
  for (const char* text : {"true", "12", "", "null", "2020-01-01", "plain", "a: b", "yes", "#x", "- x"}) {
    made.set(std::string("k") + text, Node::string(text));
  }
  auto again = read_one_yaml(write_node(made, false));
  ASSERT_TRUE(again.has_value());
  for (std::size_t i = 0; i < again->root.pairs(); ++i) EXPECT_TRUE(again->root.value(i).reads_as_string());
  EXPECT_EQ(value_or_null(again->root), value_or_null(made));
}

TEST(YamlTree, names_the_line_of_an_error) {
  EXPECT_EQ(read_yaml("a: 1\nb: [\n").error().reason, Reason::BadRequest);
  EXPECT_EQ(read_yaml("a: 1\nb: 2\na: 3\n").error().message, "yaml: line 3: mapping key \"a\" already defined");
}

TEST(YamlTree, refuses_aliases_that_make_too_much) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) text += ", " + before;
    text += "]\n";
  }
  auto tree = read_one_yaml(text);
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(to_value(tree->root).error().reason, Reason::BadRequest);
}

TEST(KeptYaml, changes_one_scalar_and_nothing_else) {
  const std::string text = "# head\r\na:   'old'   # why\r\n\r\n\r\nb: [ 1,2 ]\r\n";
  EXPECT_EQ(kept_set(text, {"a"}, "new"), "# head\r\na:   'new'   # why\r\n\r\n\r\nb: [ 1,2 ]\r\n");
  EXPECT_EQ(kept_set(text, {"b", "1"}, 7), "# head\r\na:   'old'   # why\r\n\r\n\r\nb: [ 1,7 ]\r\n");
  EXPECT_EQ(kept_set(text, {"c", "d"}, "x"), "# head\r\na:   'old'   # why\r\n\r\n\r\nb: [ 1,2 ]\r\nc:\r\n  d: x\r\n");
}

TEST(KeptYaml, adds_members_and_items_where_their_like_stand) {
  EXPECT_EQ(kept_set("a:\n    x: 1 # c\n\nb: 2\n", {"a", "y"}, "2"), "a:\n    x: 1 # c\n    y: \"2\"\n\nb: 2\n");
  EXPECT_EQ(kept_set("a:\n  - n: 1\n    m: 2\nb: 2\n", {"a", "-"}, json::object({{"n", 3}, {"m", 4}})),
            "a:\n  - n: 1\n    m: 2\n  - n: 3\n    m: 4\nb: 2\n");
  EXPECT_EQ(kept_set("a: {}\n", {"a", "b"}, 1), "a:\n  b: 1\n");
  EXPECT_EQ(kept_set("a: # c\nb: 1\n", {"a", "b"}, 1), "a: # c\n  b: 1\nb: 1\n");
  EXPECT_EQ(kept_set("a: [x]", {"a", "-"}, "z"), "a: [x, z]");
}

TEST(KeptYaml, replaces_a_block_by_a_scalar_and_back) {
  EXPECT_EQ(kept_set("a:\n  b: 1\n  c: 2\nd: 3\n", {"a"}, 4), "a: 4\nd: 3\n");
  EXPECT_EQ(kept_set("a: 4 # c\nd: 3\n", {"a"}, json::array({json::Value(1)})), "a: # c\n- 1\nd: 3\n");
  EXPECT_EQ(kept_set("a: 4\n", {"a"}, "x\ny\n"), "a: |\n  x\n  y\n");
}

TEST(KeptYaml, removes_a_field_with_its_comments) {
  EXPECT_EQ(kept_remove("a: 1\n# about b\nb: 2 # x\n\nc: 3\n", {"b"}), "a: 1\n\nc: 3\n");
  EXPECT_EQ(kept_remove("l:\n- n: 1\n  m: 2\n- n: 3\n", {"l", "0", "n"}), "l:\n- m: 2\n- n: 3\n");
  EXPECT_EQ(kept_remove("l:\n- n: 1\n- n: 3\n", {"l", "1"}), "l:\n- n: 1\n");
  EXPECT_EQ(kept_remove("a:\n  b: 1\nc: 2\n", {"a", "b"}), "a: {}\nc: 2\n");
  EXPECT_EQ(kept_remove("a: {b: 1, c: 2}\n", {"a", "c"}), "a: {b: 1}\n");
  EXPECT_EQ(kept_remove("a: 1\n", {"b"}), "there is no field b");
}

TEST(KeptYaml, refuses_what_it_cannot_edit_alone) {
  EXPECT_EQ(kept_set("a: x\n", {"a", "b"}, 1), "there is no field b: it stands in a text");
  EXPECT_EQ(kept_set("a: &x {b: 1}\nc: *x\n", {"c", "b"}, 2), "c is an alias: change what it names");
}

TEST(YamlTree, a_comment_behind_the_key_does_not_hide_how_its_list_is_written) {
  EXPECT_TRUE(has_wide_lists("zones: # kpt-set: ${zones}\n  - x\n"));
  EXPECT_FALSE(has_wide_lists("zones: # kpt-set: ${zones}\n- x\nothers:\n  - y\n"));
}

}  // namespace
}  // namespace slipway::krm

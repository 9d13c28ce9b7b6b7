#include "cue/data/yaml_syntax.h"

#include <gtest/gtest.h>

namespace slipway::cue {
namespace {

std::string yaml(const std::string& text) {
  auto out = yaml_of_syntax({"x.cue", text});
  return out ? *out : out.error().message;
}

TEST(YamlSyntax, keeps_what_stands_on_one_line_on_one_line) {
  EXPECT_EQ(yaml("a: [1, {b: 2}]\nc: {d: [], e: {}}\n"), "a: [1, {b: 2}]\nc: {d: [], e: {}}\n");
  EXPECT_EQ(yaml("a: [\n\t1,\n\t{b: 2},\n\t[\n\t\t3,\n\t],\n]\nk: g: h: 1\n"),
            "a:\n  - 1\n  - {b: 2}\n  - - 3\nk:\n  g:\n    h: 1\n");
}

TEST(YamlSyntax, keeps_the_spelling_of_numbers_yaml_knows) {
  EXPECT_EQ(yaml("a: 0x1F\nb: -1.50\nc: 2Ki\nd: 1_000\n"), "a: 0x1F\nb: -1.50\nc: 2048\nd: 1_000\n");
}

TEST(YamlSyntax, quotes_texts_that_mean_something_else) {
  EXPECT_EQ(yaml("a: \"no\"\n\"1\": \"2\"\nb: [\"x, y\"]\nc: \"\"\"\n\tone\n\ttwo\n\t\"\"\"\n"),
            "a: \"no\"\n\"1\": \"2\"\nb: ['x, y']\nc: |-\n  one\n  two\n");
}

TEST(YamlSyntax, keeps_comments_where_they_stood) {
  EXPECT_EQ(yaml("// about a\na: 1 // one\n// below a\n\n// about b\nb: [\n\t// first\n\t1,\n\t2, // second\n]\n"),
            "# about a\na: 1 # one\n# below a\n\n# about b\nb:\n  # first\n  - 1\n  - 2 # second\n");
}

TEST(YamlSyntax, writes_tags_of_attributes) {
  EXPECT_EQ(yaml("a: \"x\" @yaml(,tag=\"!Env\")\nb: [1] @yaml(,tag=\"!Set\")\n"), "a: !Env x\nb: !Set [1]\n");
}

TEST(YamlSyntax, refuses_what_is_no_data) {
  EXPECT_EQ(yaml("a: b + 1\nb: 2\n"), "yaml: unsupported node b+1 (*ast.BinaryExpr)");
  EXPECT_EQ(yaml("a?: 1\n"), "yaml: optional fields not allowed");
  EXPECT_EQ(yaml("#D: 1\n"), "yaml: definition or hidden fields not allowed");
  EXPECT_EQ(yaml("\"\\(x)\": 1\n"), "yaml: only literal labels allowed");
  EXPECT_EQ(yaml("1\n2\n"), "yaml: multiple embedded values");
}

}  // namespace
}  // namespace slipway::cue

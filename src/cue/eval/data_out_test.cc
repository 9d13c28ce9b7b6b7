// Values as JSON: the tree says what the text says.
#include <gtest/gtest.h>

#include "cue/cue.h"
#include "cue/evaluation.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

Cursor evaluated(const std::string& text, std::vector<Hole> holes = {}, Limits limits = {}) {
  auto program = compile({{"in.cue", text}}, {}, {.open_names = {"hole"}});
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  return evaluate(*program, holes, std::move(limits));
}

TEST(DataOut, a_tree_is_what_its_text_reads_as) {
  for (const char* text : {
           "x: {a: 1, b: [1, 2.50, -0.0, 1e3, 1.5e-7, 123456789012345678901234567890], c: null, d: true}",
           "x: {s: \"a\\u2028\\\"\\n\\t\\u0001ü😀\", empty: \"\", \"a key\": {}, l: []}",
           "x: {bytes: '\\xff\\x00abc', none: ''}",
           "x: {a: *1 | int, b?: int, _h: 1, #d: 2, c: {d: *{e: 1} | string}}",
           "x: [for i in [3, 1, 2] {n: i}]",
           "x: 0.1 + 0.2\ny: 30 * 1.5e1",
       }) {
    Cursor x = evaluated(text).field("x");
    auto tree = x.to_json();
    auto written = x.to_json_text();
    ASSERT_TRUE(tree.has_value() && written.has_value()) << text;
    EXPECT_EQ(json::print(*tree), json::print(*json::parse(*written))) << text;
  }
}

TEST(DataOut, text_that_is_no_utf8_is_replaced_as_in_print) {
  Cursor x = evaluated("import \"strings\"\nx: strings.ByteSlice(\"ü\", 0, 1)\ny: \"\\(x)a\"");
  EXPECT_EQ(x.field("y").to_json()->str(), json::parse(*x.field("y").to_json_text())->str());
}

TEST(DataOut, what_is_no_data_is_the_same_error_both_ways) {
  for (const char* text :
       {"x: {a: int}", "x: {a!: int}", "x: {a: 1 & 2}", "x: {a: 1 | 2}", "x: {a: {b: _|_}}", "x: {a: len}"}) {
    Cursor x = evaluated(text).field("x");
    ASSERT_FALSE(x.to_json().has_value()) << text;
    EXPECT_EQ(describe(x.to_json().error()), describe(x.to_json_text().error())) << text;
  }
}

TEST(DataOut, a_number_beyond_what_json_readers_take_is_an_error) {
  auto wrong = evaluated("x: {a: 1e999}").field("x").to_json();
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error()[0].message, "number 1E+999 is out of range");
}

TEST(DataOut, a_number_of_a_hole_that_is_too_large_is_an_error_and_no_zero) {
  Cursor root = evaluated("x: hole.a", {{"hole", *json::parse("{\"a\":1}")}});
  EXPECT_TRUE(root.validate().empty());
  Cursor wrong = evaluated("x: hole.a", {{"hole", json::object({{"a", json::Value::number("1e200000")}})}});
  EXPECT_EQ(describe(wrong.validate()), "hole.a: number out of range: 1e200000\nx: number out of range: 1e200000\n");
}

TEST(DataOut, deeper_than_readers_go_is_an_error_with_its_path) {
  json::Value deep(1);
  for (int i = 0; i < 1002; ++i) deep = json::object({{"a", deep}});
  Cursor root = evaluated("hole: _", {{"hole", deep}}, {.max_depth = 50'000});
  auto out = root.to_json();
  ASSERT_FALSE(out.has_value());
  EXPECT_EQ(out.error()[0].message, "nested too deeply");
  EXPECT_TRUE(out.error()[0].path.starts_with("hole.a.a")) << out.error()[0].path;
}

// What is taken out is memory, too.
TEST(DataOut, is_charged) {
  std::string text = "import \"strings\"\na: strings.Repeat(\"a\", 100000)\nx: [";
  for (int i = 0; i < 50; ++i) text += "a, ";
  Cursor root = evaluated(text + "]", {}, {.max_bytes = 2'000'000});
  ASSERT_TRUE(root.validate().empty()) << describe(root.validate());
  for (auto error : {root.to_json().error(), root.to_json_text().error()}) {
    ASSERT_EQ(error.size(), 1u);
    EXPECT_EQ(error[0].message, "evaluation takes too much memory");
  }
}

TEST(DataOut, to_yaml_refuses_what_it_would_leave_out) {
  std::string text = "import \"encoding/yaml\"\nx: yaml.Marshal(";
  for (int i = 0; i < 130; ++i) text += "{a: ";
  text += "1";
  for (int i = 0; i < 130; ++i) text += "}";
  Cursor x = evaluated(text + ")").field("x");
  const auto out = x.to_json_text();
  const bool is_whole = out.has_value() && out->find("a: 1") != std::string::npos;
  EXPECT_TRUE(is_whole || x.kind() == Kind::Bottom);
}

}  // namespace
}  // namespace slipway::cue

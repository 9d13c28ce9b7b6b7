#include <gtest/gtest.h>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

std::string text_at(const char* text, const char* path) {
  auto program = compile({{"in.cue", text}});
  if (!program) return describe(program.error());
  Cursor at = evaluate(*program).lookup(path);
  auto json = at.to_json_text();
  return json ? *json : json.error()[0].code;
}

TEST(DisjunctLeft, is_one_whose_fields_are_known_before_one_whose_are_not) {
  EXPECT_EQ(text_at("u: int\nx: {a: u + 1} | {b: 1}", "x"), "{\"b\":1}");
  EXPECT_EQ(text_at("p: {}\nx: *{a: p.x} | {b: 1}", "x"), "{\"b\":1}");
  EXPECT_EQ(text_at("u: int\nx: [u + 1] | []", "x"), "[]");
  EXPECT_EQ(text_at("u: int\nx: {a: u + 1} | {b: u + 2}", "x"), "incomplete");
}

TEST(DisjunctLeft, depends_on_what_is_known_where_it_is_used) {
  const char* text = "#X: {n: string, full: \"x-\\(n)\"} | {v: 1}\ny: #X & {n: \"a\"}\nz: #X & {v: 1}";
  EXPECT_EQ(text_at(text, "y"), "{\"n\":\"a\",\"full\":\"x-a\"}");
  EXPECT_EQ(text_at(text, "z"), "{\"v\":1}");
}

TEST(DisjunctLeft, fields_of_what_failed_as_a_whole_are_not_there) {
  EXPECT_EQ(text_at("p: {x: 1} & ({x: 2} | {x: 3})\na: p.x != _|_", "a"), "false");
  EXPECT_EQ(text_at("a: p.x != _|_\np: {x: 1, 5}", "a"), "false");
  EXPECT_EQ(text_at("p: {x: 1, y: 1 & 2}\na: p.x", "a"), "1");
}

TEST(DisjunctLeft, an_operand_that_decides_needs_no_kind_of_the_other) {
  EXPECT_EQ(text_at("a: false && \"a\"", "a"), "false");
  EXPECT_EQ(text_at("a: true || \"a\"", "a"), "true");
  EXPECT_EQ(text_at("a: true && \"a\"", "a"), "eval");
  EXPECT_EQ(text_at("p: {}\na: false && p.x", "a"), "incomplete");
}

// `*_|_ | {...}` waits for a guard to say what it is: as long as that is not decided, neither is the disjunction.
TEST(DisjunctLeft, that_a_guard_may_yet_decide_is_incomplete_and_no_explicit_error) {
  const char* text =
      "context: output: spec: {a: 1}\n"
      "patch: {\n\tname: \"x\"\n\tcontainers: context.output.spec.template.containers\n"
      "\tfound: [for c in containers if c.name == name {c}]\n\tbase: *_|_ | {...}\n"
      "\tif len(found) == 0 {err: \"container \\(name) not found\"}\n"
      "\tif len(found) > 0 {base: found[0], command: base.command}\n}\n"
      "errs: [if patch.err != _|_ {patch.err}]\nok: 1";
  auto program = compile({{"in.cue", text}});
  ASSERT_TRUE(program.has_value()) << describe(program.error());
  Cursor root = evaluate(*program);
  EXPECT_EQ(describe(root.validate()), "");
  EXPECT_EQ(root.field("errs").to_json_text().value(), "[]");
  EXPECT_EQ(root.field("ok").to_json_text().value(), "1");
  Errors errors = root.lookup("patch.base").validate(Demand::Concrete);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].code, "incomplete");
  EXPECT_NE(describe(errors).find("template"), std::string::npos) << describe(errors);
  EXPECT_EQ(text_at("d: *_|_ | {...}", "d"), "{}");
  EXPECT_EQ(text_at("d: *_|_ | {...}\nd: 1", "d"), "user");
}

}  // namespace
}  // namespace slipway::cue

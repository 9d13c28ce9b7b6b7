#include <gtest/gtest.h>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

std::string code_at(const char* text, const char* path) {
  auto program = compile({{"in.cue", text}});
  if (!program) return describe(program.error());
  Errors errors = evaluate(*program).lookup(path).validate(Demand::Concrete);
  return errors.empty() ? "" : errors[0].code;
}

TEST(ClosedLookup, of_a_field_a_definition_cannot_have_is_wrong_whoever_asks_first) {
  EXPECT_EQ(code_at("#A: {i: 1}\nx: #A.j", "x"), "eval");
  EXPECT_EQ(code_at("x: #A.j\n#A: {i: 1}", "x"), "eval");
  EXPECT_EQ(code_at("#A: {i: #A.j, if true {k: 1}}", "#A.i"), "eval");
  EXPECT_EQ(code_at("#A: {i: #A.j, ...}", "#A.i"), "incomplete");
  EXPECT_EQ(code_at("#A: {c: _, i: c.n}", "#A.i"), "incomplete");
}

TEST(ClosedLookup, of_a_field_that_is_not_allowed_is_wrong) {
  EXPECT_EQ(code_at("#T: {m: 1}\na: #T & {n: 2}\nc: a.n", "c"), "eval");
  EXPECT_EQ(code_at("c: a.n\na: #T & {n: 2}\n#T: {m: 1}", "c"), "eval");
  EXPECT_EQ(code_at("#T: {m: *1 | int}\na: #T & {v: [...c], n: *null | c}\nc: {m: a.n}", "c.m"), "eval");
  EXPECT_EQ(code_at("#T: {m: 1, n?: int}\na: #T & {n: 2}\nc: a.n", "c"), "");
  EXPECT_EQ(code_at("#T: {m: 1}\na: {#T, n: 2}\nc: a.n", "c"), "");
  EXPECT_EQ(code_at("#T: {m: 1}\nc: (#T & {n: 2}).n", "c"), "");
}

TEST(ClosedLookup, and_of_items_is_their_meet_and_no_cycle) {
  EXPECT_EQ(code_at("a: and([a, b])\nb: 1", "a"), "");
  EXPECT_EQ(code_at("a: and([a])", "a"), "incomplete");
  EXPECT_EQ(code_at("#A: {i: int}\nx: and([#A, {i: 1, c: 1}])", "x"), "eval");
  EXPECT_EQ(code_at("#A: {i: int}\nl: [#A]\nx: [for one in l {one & {i: 1, c: 1}}]", "x"), "eval");
}

}  // namespace
}  // namespace slipway::cue

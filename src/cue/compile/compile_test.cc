// What a program may leave unused.
#include <gtest/gtest.h>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

std::string result_of(const char* text) {
  auto program = compile({{"in.cue", text}});
  if (!program) return program.error()[0].message;
  auto json = evaluate(*program).to_json_text();
  return json ? *json : describe(json.error());
}

TEST(Compile, a_let_clause_of_a_comprehension_need_not_be_used) {
  EXPECT_EQ(result_of("x: {for i, s in [1] let m = s {k: 2}}"), "{\"x\":{\"k\":2}}");
  EXPECT_EQ(result_of("x: [for s in [1, 2] let m = s let k = m {k}]"), "{\"x\":[1,2]}");
}

TEST(Compile, a_let_of_a_struct_must_be_used) {
  EXPECT_EQ(result_of("x: {let m = 1, k: 2}"), "unreferenced alias or let clause m");
}

TEST(Compile, comprehensions_in_a_list_need_no_comma_between_them) {
  EXPECT_EQ(result_of("a: [\n\tif true {1}\n\tif true {2},\n]"), "{\"a\":[1,2]}");
  EXPECT_EQ(result_of("a: [\n\tfor x in [1] {x}\n\tif true {2}\n]"), "{\"a\":[1,2]}");
  EXPECT_EQ(result_of("a: [\n\t1\n\tif true {2}\n]"), "missing ',' before newline in list literal");
}

TEST(Compile, a_pattern_that_cannot_be_read_is_wrong_where_a_value_meets_it) {
  EXPECT_EQ(result_of("#p: =~\"(?=a)\"\nx: 1"), "{\"x\":1}");
  EXPECT_EQ(result_of("#p: =~\"a{0,1022}\"\nx?: #p\ny: 2"), "{\"y\":2}");
  EXPECT_NE(result_of("#p: =~\"(?=a)\"\nx: #p & \"a\"").find("error parsing regexp"), std::string::npos);
}

TEST(Compile, a_text_of_several_lines_may_close_behind_its_last_text) {
  EXPECT_EQ(result_of("x: \"\"\"\n  a\n  b\\(1)\"\"\""), "{\"x\":\"  a\\n  b1\"}");
  EXPECT_EQ(result_of("x: \"\"\"\n  a\n  b\"\"\""), "{\"x\":\"  a\\n  b\"}");
}

std::string fault_of(const char* text, bool checks_members = true) {
  const Packages packages = {{"vela/op", {{"op.cue", "package op\n#Apply: {...}\nlimit: 3\n_own: 1\n"}}},
                             {"x/open", {{"open.cue", "package open\n{a: 1}\n"}}}};
  auto program = compile({{"in.cue", text}}, packages, {.checks_members = checks_members});
  return program ? "" : describe(program.error());
}

TEST(Compile, what_a_package_lacks_may_not_be_selected_where_that_is_checked) {
  EXPECT_EQ(fault_of("import \"vela/op\"\nx: op.#Apply & {n: op.limit}"), "");
  EXPECT_EQ(fault_of("import \"vela/op\"\nx: {\n\ty: op.#Nope & {a: 1}\n}"),
            "package \"vela/op\" has no #Nope (op.#Nope):\n    in.cue:3:8\n");
  EXPECT_EQ(fault_of("import \"vela/op\"\nx: op.#Nope", false), "");
  // An alias, a hidden field of the package, and a field in a branch that is not taken.
  EXPECT_NE(fault_of("import o \"vela/op\"\nx: o.applied").find("(o.applied)"), std::string::npos);
  EXPECT_EQ(fault_of("import \"vela/op\"\nx: op._own"), "");
  EXPECT_NE(fault_of("import \"vela/op\"\nif false {x: op.#Nope}"), "");
}

TEST(Compile, presence_of_a_member_may_be_asked_for) {
  EXPECT_EQ(fault_of("import \"vela/op\"\nx: op.#Nope == _|_"), "");
  EXPECT_NE(fault_of("import \"vela/op\"\nx: {if op.#Nope == _|_ {y: op.#Other}}"), "");
  EXPECT_EQ(fault_of("import \"x/open\"\nx: open.b"), "");
}

}  // namespace
}  // namespace slipway::cue

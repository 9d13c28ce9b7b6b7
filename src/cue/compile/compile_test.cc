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

}  // namespace
}  // namespace slipway::cue

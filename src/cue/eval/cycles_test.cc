// Structures that repeat themselves: what they come to, and that it is noticed on the first lap.
#include <gtest/gtest.h>

#include "cue/evaluation.h"
#include "cue/export/text_options.h"

namespace slipway::cue {
namespace {

struct Row {
  const char* text;
  const char* value;  // as JSON, or what is wrong first
  std::uint64_t vertices;
};

void expect_all(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    auto program = compile({{"x.cue", row.text}}, {}, {});
    ASSERT_TRUE(program.has_value()) << describe(program.error());
    Cursor root = evaluate(*program);
    Errors errors = root.validate();
    std::string value = errors.empty() ? root.to_json_text().value_or("not concrete") : errors[0].message;
    EXPECT_EQ(value, row.value);
    EXPECT_LE(root.evaluation()->evaluator().unifications(), row.vertices);
  }
}

TEST(Cycles, what_repeats_itself_is_followed_only_beside_what_does_not) {
  expect_all({
      {"a: {x: a, if x {}}", "structural cycle", 4},
      {"a: {y: 1, x: a, if x != _|_ {z: x.y}}", "structural cycle", 6},
      {"a: {let L = a, if L == _|_ {}, b: c: 1}", R"({"a":{"b":{"c":1}}})", 5},
      {"import \"list\"\na: b\nb: list.Concat([[c], [c]])\nc: a", "structural cycle", 30},
      {"#L: {next: #L | *null, if next != null {}}\nx: #L", R"({"x":{"next":null}})", 12},
      {"#L: {n: int, next: #L | *null, if next == null {s: n}, if next != null {s: n + next.s}}\n"
       "x: #L & {n: 1, next: {n: 2, next: n: 3}}",
       R"({"x":{"n":1,"next":{"n":2,"next":{"n":3,"next":null,"s":3},"s":5},"s":6}})", 40},
      {"a: close({b: string | a | c})\nc: close({d: string | a})\nd: d: b: string", "not concrete", 200},
  });
}

TEST(Cycles, what_applies_only_where_others_ask_for_a_field_may_meet_itself_once_more) {
  expect_all({
      // Patterns, as long as data goes on.
      {"y: [string]: b: y\nx: y\nx: c: x", "structural cycle", 12},
      {"y: [string]: b: y\nx: y\nx: c: y", "structural cycle", 14},
      {"a: [string]: b: a\nx: a & {c: b: c: b: c: {}}", R"({"a":{},"x":{"c":{"b":{"c":{"b":{"c":{"b":{}}}}}}}})", 12},
      {"#D: [string]: #D\nx: #D & {a: b: c: {}}", R"({"x":{"a":{"b":{"c":{}}}}})", 6},
      {"_s: x: [...and(x)]\n_s\nx: [1]", R"({"x":[1]})", 12},
      // Disjuncts.
      {"#A: {b: #A | *null, c: [string]: #A}\nx: #A & {b: b: {}}\ny: x.b.b.b",
       R"({"x":{"b":{"b":{"b":null,"c":{}},"c":{}},"c":{}},"y":null})", 60},
      {"#T: [\"a\", #T] | [\"b\", #T] | [\"c\", #T] | [\"d\", [...#T]]\n#A: t: #T\n#B: [string]: #A\n#C: #B & {x: #A}", "{}",
       600},
      // Functions: each call has something of its own.
      {"_C: {p: _, r: {for k, v in p {(k): (_C & {p: v}).r}}} | {p: number, r: p}\nx: (_C & {p: a: b: c: d: 2}).r",
       R"({"x":{"a":{"b":{"c":{"d":2}}}}})", 200},
  });
}

TEST(Cycles, optional_fields_that_lead_back_are_written_as_references) {
  const struct {
    const char* text;
    const char* value;
  } kRows[] = {
      {"#T: {a?: #T, b: int}", "#T: {\n    a?: #T\n    b:  int\n}\n"},
      {"#T: {a?: #T, b?: #U}\n#U: {a?: #T, b?: #U}",
       "#T: {\n    a?: #T\n    b?: {\n        a?: #T\n        b?: #U\n    }\n}\n#U: {\n    a?: #T\n    b?: #U\n}\n"},
      {"#T: a?: #T\nx: #T & {a: {}}", "#T: a?: #T\nx: a: a?: a?: #T\n"},
  };
  for (const auto& row : kRows) {
    auto program = compile({{"x.cue", row.text}}, {}, {});
    ASSERT_TRUE(program.has_value()) << describe(program.error());
    Cursor root = evaluate(*program);
    TextOptions options{.indent = "    ", .joins_single_fields = true, .is_in_columns = true, .has_expressions = true};
    EXPECT_EQ(cue_text(root.evaluation()->evaluator(), root.evaluation()->root(), options), row.value);
  }
  // However many there are that refer to each other.
  std::string many;
  for (int i = 0; i < 8; ++i) {
    many += "#T" + std::to_string(i) + ": {";
    for (int k = 0; k < 8; ++k) many += "f" + std::to_string(k) + "?: #T" + std::to_string(k) + ", ";
    many += "}\n";
  }
  auto program = compile({{"x.cue", many + "x: #T0 & {f1: f2: f3: {}}\n"}}, {}, {});
  ASSERT_TRUE(program.has_value()) << describe(program.error());
  Cursor root = evaluate(*program);
  EXPECT_FALSE(root.to_cue().empty());
  EXPECT_LE(root.evaluation()->evaluator().unifications(), 200u);
}

}  // namespace
}  // namespace slipway::cue

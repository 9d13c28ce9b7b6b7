// Structures that repeat themselves: what they come to, and that it is noticed on the first lap.
#include <gtest/gtest.h>

#include "cue/evaluation.h"

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
      {"a: close({b: string | a | c})\nc: close({d: string | a})\nd: d: b: string", "not concrete", 100},
  });
}

}  // namespace
}  // namespace slipway::cue

// What values come to, one rule a test.
#include <gtest/gtest.h>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

Cursor evaluated(const std::string& text, const Packages& packages = {}) {
  auto program = compile({{"x.cue", text}}, packages);
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  return evaluate(*program);
}

// JSON of a field, "incomplete" or "wrong".
std::string value_at(const Cursor& root, const char* path) {
  Cursor at = root.lookup(path);
  if (!at.validate().empty()) return "wrong";
  auto text = at.to_json_text();
  return text ? *text : "incomplete";
}

TEST(Values, a_validator_waits_for_what_may_still_come) {
  Cursor root = evaluated(R"(
x: matchN(1, [{port!: int}]) & {host: "a"}
y: matchN(0, [{port!: int}]) & {host: "a"}
z: matchN(1, [{port: string}]) & {port: *80 | int}
w: matchIf({kind!: "tcp"}, {port!: int}, {host!: string}) & {kind: "tcp", port: 1}
v: matchIf({kind!: "tcp"}, {port!: int}, {host!: string}) & {kind: "tcp"}
u: {matchN(1, [>10])} & 11
t: matchN(1, [{port: 80}]) & {port: *80 | int}
)");
  EXPECT_EQ(value_at(root, "x"), "incomplete");
  EXPECT_EQ(value_at(root, "y"), R"({"host":"a"})");
  EXPECT_EQ(value_at(root, "z"), "wrong");
  EXPECT_EQ(value_at(root, "w"), R"({"kind":"tcp","port":1})");
  EXPECT_EQ(value_at(root, "v"), "incomplete");
  EXPECT_EQ(value_at(root, "u"), "11");
  EXPECT_EQ(value_at(root, "t"), R"({"port":80})");
}

TEST(Values, lists_are_compared_as_data) {
  Cursor root = evaluated(R"(
a: [1, ...] == [1]
b: [*1 | 2] == [1]
c: [1.0] == [1]
d: [{n: 1, o?: int, #d: 2}] == [{n: 1}]
e: [{n: int}] == [{n: 1}]
f: [[{n: 1}]] != [[{n: 2}]]
)");
  EXPECT_EQ(value_at(root, "a"), "true");
  EXPECT_EQ(value_at(root, "b"), "true");
  EXPECT_EQ(value_at(root, "c"), "false");
  EXPECT_EQ(value_at(root, "d"), "true");
  EXPECT_EQ(value_at(root, "e"), "incomplete");
  EXPECT_EQ(value_at(root, "f"), "true");
}

TEST(Values, items_stand_between_definitions) {
  Cursor root = evaluated("import \"list\"\nl: {#d: 1, [1, 2], #e: 2}\nm: list.Concat([l, l])\nn: l[1]");
  EXPECT_EQ(value_at(root, "m"), "[1,2,1,2]");
  EXPECT_EQ(value_at(root, "n"), "2");
}

TEST(Values, a_folder_may_hold_packages_of_several_names) {
  Packages packages;
  packages["a.b/c:one"] = {{"one.cue", "package one\nimport \"a.b/c:two\"\ntwo\nx: 1"}};
  packages["a.b/c:two"] = {{"two.cue", "package two\ny: 2"}};
  EXPECT_EQ(value_at(evaluated("import \"a.b/c:one\"\nv: one", packages), "v"), R"({"x":1,"y":2})");
}

TEST(Values, a_judging_function_may_be_called_through_a_field) {
  Cursor root = evaluated("import \"encoding/json\"\nis_json: json.Valid\nyes: is_json(\"[]\")\nno: is_json()()");
  EXPECT_EQ(value_at(root, "yes"), "true");
  EXPECT_EQ(value_at(root, "no"), "wrong");
}

TEST(Values, what_could_not_be_put_together_yet_has_no_fields_for_others) {
  Cursor root = evaluated(R"(
none: {}
x: {none.size, port: 80, inside: port}
y: x.port
z: x.port != _|_
)");
  EXPECT_EQ(value_at(root, "y"), "incomplete");
  EXPECT_EQ(value_at(root, "z"), "false");
  EXPECT_EQ(value_at(root, "x.inside"), "80");
}

TEST(Values, a_disjunct_that_asks_for_itself_is_asked) {
  Cursor root = evaluated(R"(
a: *a.b | {c: 1}
b: *b[0] | [1]
c: {x: c.y, y: 1} | {x: 2, y: 5}
d: *{x: len(d.z), y: 1} | {x: 2}
e: {x: *x.y | 0}.x
)");
  EXPECT_EQ(value_at(root, "a"), R"({"c":1})");
  EXPECT_EQ(value_at(root, "b"), "[1]");
  EXPECT_EQ(root.lookup("c").to_cue(), evaluated("c: {x: 1, y: 1} | {x: 2, y: 5}").lookup("c").to_cue());
  EXPECT_EQ(value_at(root, "d"), R"({"x":2})");
  EXPECT_EQ(value_at(root, "e"), "0");
}

// Guards, fields named by what is not there and operands that may come do not hide what is wrong with the rest.
TEST(Values, what_is_not_known_yet_does_not_hide_a_contradiction) {
  const std::string open = "p: {n: int, m?: [...int]}\n";
  for (const char* wrong : {
           "a: {b: {m: 1, m: 2}, if p.n > 2 {x: 1}}",
           "a: {b: {m: [1] & [1, 2]}, for v in p.m {x: v}}",
           "a: {b: \"s\", if p.n > 2 {x: 1}} & {b: 1}",
           "a: \"s\" & {b: int, if p.n > 2 {x: 1}}",
           "a: [] & {b?: int, if p.n > 2 {b: 1}, c: 1}",
           "a: [...{b: int, if b > 2 {c: 1}}]\na: [\"s\"]",
           "a: 5 & {\"\\(p.n)\": 1}",
           "a: [if p.n > 1 {1}] & {b: 1}",
           "a: >5 & 3 & (p.n + 1)",
           "a: {b: {c: {d: 1} & \"s\"}, e: {\"\\(p.n)\": 1}}",
       }) {
    Cursor root = evaluated(open + wrong);
    EXPECT_EQ(value_at(root, "a"), "wrong") << wrong;
    EXPECT_FALSE(root.validate().empty()) << wrong;
  }
  for (const char* fine : {
           "a: 5 & {if p.n > 1 {b: 1}}",
           "a: close({if p.n > 1 {b: 1}}) & {c: 1}",
           "a: >5 & 7 & (p.n + 1)",
           "a: {b: 1, if p.n > 2 {b: 2}}",
           "a: {b: 1, if p.n > 2 {x: 1}} | string",
       }) {
    EXPECT_TRUE(evaluated(open + fine).validate().empty()) << fine;
  }
}

TEST(Values, operands_that_lack_values_are_not_wrong_yet) {
  const char* sums[] = {"{b: int} + {c: 1}", "[int] + [1]", "{b!: string} == {b: 1}", "{b: c: int} + 1"};
  for (const char* sum : sums) EXPECT_EQ(value_at(evaluated(std::string("a: ") + sum), "a"), "incomplete") << sum;
  for (const char* sum : {"{b: 1} + {c: 1}", "[1] + [1]", "{} + 1", "{b?: int} + {}"})
    EXPECT_EQ(value_at(evaluated(std::string("a: ") + sum), "a"), "wrong") << sum;
}

TEST(Values, copies_of_what_refers_to_itself_are_one) {
  std::string text;
  std::string all;
  for (int i = 0; i < 6; ++i) {
    text += "p" + std::to_string(i) + ": {x: b: {d: b: 2}, y: c: z.d, x: b: y.c, z: x.b, z: d: {a: 1}}\n";
    all += (i > 0 ? " & p" : "p") + std::to_string(i);
  }
  EXPECT_EQ(value_at(evaluated(text + "all: " + all), "all.y"), R"({"c":{"a":1,"b":2}})");
}

}  // namespace
}  // namespace slipway::cue

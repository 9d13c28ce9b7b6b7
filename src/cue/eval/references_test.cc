// References: to the struct around them by its name, through lets and guards, and into each other.
#include <gtest/gtest.h>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

/// As JSON, without white space; what is wrong when it is not concrete.
std::string exported(const std::string& text) {
  auto program = compile({{"x.cue", text}}, {}, {});
  if (!program) return describe(program.error());
  auto out = evaluate(*program).to_json_text();
  return out ? *out : describe(out.error());
}

TEST(References, the_name_of_a_struct_is_that_of_its_copy) {
  EXPECT_EQ(exported("_f: X={in: X.from.out + 1, from: _}\ng: _f & {from: out: 2}"), R"({"g":{"from":{"out":2},"in":3}})");
  EXPECT_EQ(exported("#D: X={a: int, b: X.a}\ng: #D & {a: 2}"), R"({"g":{"a":2,"b":2}})");
  // That of another value is the field it is written in.
  EXPECT_EQ(exported("a: X=[1, 2, X[0]]"), R"({"a":[1,2,1]})");
}

TEST(References, a_let_sees_the_fields_of_a_struct_that_embeds_what_it_makes) {
  EXPECT_EQ(exported("a: {#l: [1, 2], let L = #l, L[len(L)-1]}"), R"({"a":2})");
  EXPECT_EQ(exported("a: {let L = #l, L[len(L)-1], #l: [1, 2]}"), R"({"a":2})");
}

TEST(References, bytes_become_text_with_a_mark_for_what_is_broken) {
  EXPECT_EQ(exported(R"x(a: "\('a\xED\x95a')", b: "\('\x80\x95')", c: "\('\xf0\x9f\x98b')")x"),
            R"({"a":"a�a","b":"��","c":"�b"})");
}

TEST(References, whoever_goes_through_fields_sees_all_there_will_be) {
  std::string twice = "a: {x: 1, for k, v in a {(k+\"q\"): v}}";
  EXPECT_NE(exported(twice).find("adding field xq not allowed as field set was already referenced"), std::string::npos);
  EXPECT_NE(exported("a: {x: 1, for k, v in b {(k+\"q\"): v}}\nb: {y: 1, for k, v in a {(k): v}}").find("adding field yq"),
            std::string::npos);
  // What is there may still become more specific.
  EXPECT_EQ(exported("a: {x: int, for k, v in a {(k): 1}}"), R"({"a":{"x":1}})");
}

TEST(References, what_a_guard_found_of_an_expression_holds_in_the_end) {
  EXPECT_NE(exported("b?: int\nif (b + 1) == _|_ {b: 1}").find("circular dependency"), std::string::npos);
  EXPECT_EQ(exported("b?: int\nif len(b) == _|_ {b: 1}"), R"({"b":1})");
}

TEST(References, what_may_be_a_struct_and_what_is_several_things_is_there) {
  std::string of = "[for k, v in {t: _, n: string | null, s: string, b: >5, m: !=null, l: [...]} if v != _|_ {k}]";
  EXPECT_EQ(exported("a: " + of), R"({"a":["t","n","m","l"]})");
  EXPECT_EQ(exported("_v: {t: _, d: 1 | 2, s: string, e?: int}\na: [if _v.t != _|_ {1}, if _v.d != _|_ {2}, "
                     "if _v.s != _|_ {3}, if _v.e != _|_ {4}]"),
            R"({"a":[1,2]})");
}

TEST(References, alternatives_made_of_what_refers_to_them_leave_themselves_out) {
  EXPECT_EQ(exported("#A: {x: string, r: #O}\n#O: or([for k, v in #A {(k): v}])\no: #O & {x: \"a\"}"), R"({"o":{"x":"a"}})");
}

TEST(References, validators_that_judge_by_themselves_end) {
  EXPECT_NE(exported("_x: matchN(2, [_x, _x])\na: 3 & _x").find("does not satisfy matchN"), std::string::npos);
  EXPECT_NE(exported("import \"encoding/yaml\"\nx: y: yaml.Validate(x)\nx: y: \"{}\"").find("structural cycle"),
            std::string::npos);
  EXPECT_EQ(exported("#c: {b?: string, a?: matchN(1, [#c])}\nd: #c\nd: a: a: b: \"x\""), R"({"d":{"a":{"a":{"b":"x"}}}})");
}

TEST(References, a_recursive_definition_goes_on_as_long_as_data_goes_on) {
  EXPECT_EQ(exported("#L: {v: int, m: x: *0 | int, next?: #L}\nl: #L & {v: 1, next: {v: 2, next: {v: 3, next: v: 4}}}"),
            R"({"l":{"v":1,"next":{"v":2,"next":{"v":3,"next":{"v":4,"m":{"x":0}},"m":{"x":0}},"m":{"x":0}},"m":{"x":0}}})");
  EXPECT_EQ(exported("#T: {v: int, kids: [...#T]}\nt: #T & {v: 1, kids: [{v: 2, kids: [{v: 3, kids: [{v: 4}]}]}]}"),
            R"({"t":{"v":1,"kids":[{"v":2,"kids":[{"v":3,"kids":[{"v":4,"kids":[]}]}]}]}})");
  EXPECT_EQ(exported("#T: {m: x: *0 | int, next: null | #T}\nt: #T & {next: next: next: next: null}"),
            R"({"t":{"next":{"next":{"next":{"next":null,"m":{"x":0}},"m":{"x":0}},"m":{"x":0}},"m":{"x":0}}})");
  EXPECT_EQ(exported("#P: {n: string, up?: #P, full: [if up != _|_ {up.full + n}, n][0]}\n"
                     "p: (#P & {n: \"a\", up: {n: \"b\", up: {n: \"c\", up: n: \"d\"}}}).full"),
            R"({"p":"dcba"})");
  EXPECT_EQ(exported("_d: {v: 3, next: v: 4}\n#L: {v: int, m: x: *0 | int, next?: #L}\n"
                     "l: (#L & {v: 1, next: {v: 2, next: _d}}).next.next.next.m.x"),
            R"({"l":0})");
  for (const char* endless : {"a: {b: a & {c: 1}}", "#A: {x: #A & {y: 1}}", "a: {n: {a}}\nb: {n: {b}}\nx: a & b"})
    EXPECT_NE(exported(endless).find("structural cycle"), std::string::npos) << endless;
}

// Each is the same as what it lies in, with others in between.
TEST(References, rings_of_structs_have_no_end) {
  const std::pair<const char*, const char*> rings[] = {
      {"D: a: T\nT: b: D", "T.b"},
      {"T: b: D\nD: a: T", "D.a"},
      {"A: a: B\nB: b: C\nC: c: A", "C.c"},
      {"t: {D: a: T, T: b: D}", "t.T.b"},
      {"z: len(D)\nD: a: T\nT: b: D", "T.b"},
      {"D: {x: len(T), a: T}\nT: b: D", "T.b"},
      {"D: [T]\nT: [D]", "T.0"},
      {"#D: a: #T\n#T: b: #D", "#T.b"},
  };
  for (const auto& [text, place] : rings) {
    auto program = compile({{"x.cue", text}});
    ASSERT_TRUE(program.has_value()) << text;
    Cursor root = evaluate(*program);
    Errors errors = root.validate();
    ASSERT_FALSE(errors.empty()) << text;
    EXPECT_EQ(errors[0].path, place) << text;
    EXPECT_EQ(errors[0].message, "structural cycle") << text;
    EXPECT_NE(root.to_cue(), "") << text;
  }
  EXPECT_EQ(exported("D: a: T\nT: b?: D"), R"({"D":{"a":{}},"T":{}})");
}

TEST(References, a_struct_may_be_handed_to_a_function_it_calls) {
  EXPECT_EQ(exported("_f: {in: _, out: [if in.app != _|_ {in.app.name}]}\nx: X={got: (_f & {in: X}).out, app: name: \"a\"}"),
            R"({"x":{"got":["a"],"app":{"name":"a"}}})");
  EXPECT_EQ(exported("y: {got: ({in: _, out: in.n} & {in: y}).out, n: 1}"), R"({"y":{"got":1,"n":1}})");
}

}  // namespace
}  // namespace slipway::cue

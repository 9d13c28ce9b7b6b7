// What is left of disjunctions, and which of it is the default.
#include <gtest/gtest.h>

#include "cue/eval/assertions_test.h"
#include "cue/export/text_options.h"

namespace slipway::cue {
namespace {

// Of `x` in the text, on one line.
std::string value_of_x(const std::string& text) {
  auto program = compile_program({{"x.cue", text}}, {}, {});
  if (!program->diagnostics.empty()) return program->diagnostics[0].message;
  Evaluator evaluator(*program, {.max_steps = 150'000});
  const Vertex* root = deref(evaluator.run({}));
  std::string out = cue_text(evaluator, evaluator.find_arc(root, evaluator.labels().regular("x")), {});
  std::string line;
  for (char c : out) {
    if (c == '\t' || (c == ' ' && line.ends_with(' '))) continue;
    line += c == '\n' ? ' ' : c;
  }
  return line;
}

// A way that repeats itself is none of the disjuncts, whoever names the vertex, and however often.
TEST(Disjunction, is_the_same_for_all_that_only_name_it) {
  const std::string tree = "#T: [\"a\", #T] | [\"d\", ...#T]\ny: #T\n";
  for (const char* x : {"x: #T", "x: #T & #T", "x: y\nx: #T", "x: y & y", "x: y & y & #T"})
    EXPECT_EQ(value_of_x(tree + x), "[\"d\", ...]") << x;
}

TEST(Disjunction, fails_with_the_cycle_that_keeps_it_from_being_decided) {
  for (const char* x : {"x: (y & 8) | (y & 9)\ny: x + 1", "y: x + 1\nx: (y & 8) | (y & 9)"}) {
    auto program = compile_program({{"x.cue", x}}, {}, {});
    Evaluator evaluator(*program, {});
    const Vertex* root = deref(evaluator.run({}));
    const Value& base = deref(evaluator.find_arc(root, evaluator.labels().regular("x")))->base;
    ASSERT_TRUE(base.is_bottom()) << x;
    EXPECT_EQ(base.bottom->code, Code::Cycle) << x;
  }
}

TEST(Disjunction, joins_structs_that_differ_in_their_patterns_only) {
  EXPECT_EQ(value_of_x("x: {[string]: 1, [=~\"a\"]: int, b: 1} | {[string]: 1, b: 1}"), "b: 1 ");
  EXPECT_EQ(value_of_x("y: {[string]: string} | *{}\ny: b: \"k\"\nx: y & {[string]: string}"), "b: \"k\" ");
  EXPECT_EQ(value_of_x("x: *close({}) | {[_]: null}"), "*{} | {}");
}

TEST(Disjunction, keeps_scalars_apart_that_have_fields) {
  EXPECT_EQ(value_of_x("c: true | \"b\"\nx: c & ({y: 1} | {#d?: int, (number | _)})"),
            value_of_x("c: true | \"b\"\nx: c & {#d?: int, _}"));
}

// None of the disjuncts goes with the rest, whatever the unknown will be.
TEST(Disjunction, fails_though_something_beside_it_is_unknown) {
  auto program = compile_program({{"x.cue", "x: {b: 0 | 1, b, b * 0}\ny: {b: 0 | {c: 1}, b, d.e}\nd: {...}"}}, {}, {});
  Evaluator evaluator(*program, {});
  const Vertex* root = deref(evaluator.run({}));
  auto code = [&](const char* name) {
    const Vertex* v = deref(evaluator.find_arc(root, evaluator.labels().regular(name)));
    return v->base.is_bottom() ? v->base.bottom->code : Code::None;
  };
  EXPECT_EQ(code("x"), Code::Eval);
  EXPECT_EQ(code("y"), Code::Incomplete);
}

// What is known without the disjunction may choose what is in a disjunct.
TEST(Disjunction, may_refer_to_fields_of_the_vertex_it_decides) {
  const std::string data = "d: p: {n: 1}\nx: k: \"p\"\n";
  EXPECT_EQ(value_of_x(data + "x: d[x.k] | {m: 2}"), "{ k: \"p\" n: 1 } | { k: \"p\" m: 2 }");
  EXPECT_EQ(value_of_x(data + "x: {m: 2} | {d[x.k]}"), "{ k: \"p\" m: 2 } | { k: \"p\" n: 1 }");
  EXPECT_EQ(value_of_x("d: p: {n: 1}\nx: {k: \"p\"} | {k: \"q\"}\nx: d[x.k] | {m: 2}"),
            value_of_x("d: p: {n: 1}\nx: {k: \"p\"} | {k: \"q\"}\nx: {d[x.k]} | {m: 2}"));
  // Another disjunction brings the field, whichever comes first.
  const char* known = "*{ k: \"p\" n: 1 } | { k: \"p\" } | { k: \"q\" }";
  EXPECT_EQ(value_of_x("d: p: {n: 1}\no: {k: \"p\"} | {k: \"q\"}\nx: *d[x.k] | _\nx: o"), known);
  EXPECT_EQ(value_of_x("d: p: {n: 1}\no: {k: \"p\"} | {k: \"q\"}\nx: o\nx: *d[x.k] | _"), known);
  EXPECT_EQ(value_of_x("x: (*y.z | 1) & (1 | *2)\ny: {...}"), "1");
}

TEST(Disjunction, unifies_defaults_in_the_order_they_are_written) {
  const struct {
    const char* text;
    const char* value;
  } kRows[] = {
      {"x: (*7 | 8) & (7 | 8)", "*7 | 8"},
      {"x: (*7 | 8) & (7 | *8)", "7 | 8"},
      // A side that loses its defaults has none.
      {"x: (*7 | 8 | 9) & (*9 | 8)", "*9 | 8"},
      {"x: (*7 | 8 | 9) & (8 | *9 | 6)", "*9 | 8"},
      {"x: (bool | *null) & (bool | *true)", "*true | bool"},
      {"x: (*7 | int) & (*8 | int) & (*9 | int)", "7 | 8 | 9 | int"},
      {"x: (*{p: 1} | string) & (*{p: 2} | {q: 3} | string)", "*{ p: 1 q: 3 } | string"},
      // A disjunction among the disjuncts.
      {"x: (*(*\"p\" | string) | string) & (\"p\" | \"r\")", "*\"p\" | \"r\""},
      {"x: (\"p\" | \"r\") & (*(*\"p\" | string) | string)", "*\"p\" | *\"r\""},
      {"x: *(7 & 8) | (*\"p\" | string)", "\"p\" | string"},
      {"x: (7 | (*8 | 9)) & (*7 | *8 | *9)", "*8 | 7 | 9"},
      {"x: \"p\" | ((string | *bool) & bool) | \"r\"", "\"p\" | bool | \"r\""},
      {"x: (7 | *8) & ((*\"p\" | *7) | int)", "*7 | *8"},
  };
  for (const auto& row : kRows) EXPECT_EQ(value_of_x(row.text), row.value) << row.text;
}

TEST(Disjunction, is_chosen_from_once_however_often_it_is_referred_to) {
  const char* kEither = "y: {p: int} | {q: 2}\n";
  for (const char* text : {"x: y & y", "x: {{y}, {y}}", "x: {for i in [1, 2] {y}}"})
    EXPECT_EQ(value_of_x(std::string(kEither) + text), "{ p: int } | { q: 2 }") << text;
  EXPECT_EQ(value_of_x("x: ({p: 1} | {q: 2}) & ({p: 1} | {q: 2})"), "{ p: 1 } | { p: 1 q: 2 } | { q: 2 }");
}

TEST(Disjunction, looks_at_what_else_is_said_before_it_drops_a_disjunct) {
  const struct {
    const char* text;
    const char* value;
  } kRows[] = {
      // A function among the disjuncts judges.
      {"import \"strings\"\nx: strings.MinRunes(3) | =~\"^z\"\nx: {if true {=~\"a\"}}\nx: \"abc\"", "\"abc\""},
      // What an earlier disjunction leaves aside may still be there.
      {"{p: int} | {q: int}\n{p: int, r: int} | {q: int}\np: 1\nr: 1\nq?: _|_\nx: s.u\ns: *#V | #U\n#U: {v: 1, u: 1}\ns: v: "
       "1\n#V: w: 1",
       "1"},
  };
  for (const auto& row : kRows) EXPECT_EQ(value_of_x(row.text), row.value) << row.text;
}

// Undecided disjuncts that refer to what they are in are written out a little way, as upstream shows them.
TEST(Disjunction, writes_out_references_to_itself_once_more) {
  const struct {
    const char* text;
    const char* value;
  } kRows[] = {
      {"#Q: {n: null | #Q}\nx: #Q & {}", "n: null | { n: null | { n: null } } "},
      {"#Q: {l: null | #Q, r: null | #Q}\nx: {#Q}.l", "null | { l: null | { l: null r: null } r: null | { l: null r: null } }"},
      {"#Q: {n: null | {m: #Q}}\nx: #Q & {}", "n: null | { m: { n: null } } "},
      {"#Q: {p: int, n: null | #R}\n#R: {m: null | #Q}\nx: #Q & {p: 1}",
       "p: 1 n: null | { m: null | { p: int n: null | { m: null | { p: int n: null } } } } "},
      {"#Q: {p: int, n: null | #Q}\nx: #Q & {p: 1, n: {p: 2, n: {p: 3}}}",
       "p: 1 n: { p: 2 n: { p: 3 n: null | { p: int n: null } } } "},
      // What repeats itself is bounded by what is there.
      {"#Q: {p: int, q: 1, r: {s: 2}, t: {u: p}.u, n?: #Q}\nx: (#Q & {p: 1, n: {p: 2, n: {p: 3, n: {p: 4}}}}).n.n.n.t", "4"},
      {"#Q: {p: int, q: 1, n?: #Q}\nx: (#Q & {p: 1, n: {p: 2, n: {p: 3, n: {p: 4}}}}).n.n.n.q", "1"},
      {"f: {in: int, out: [if in > 1 {in * (f & {\"in\": in - 1}).out}, 1][0]}\nx: (f & {in: 6}).out",
       "_|_ // structural cycle"},
      {"x: {a: x}.a", "_"},
      {"x: {a: 1} | {b: (x & {}).b}", "a: 1 "},
  };
  for (const auto& row : kRows) EXPECT_EQ(value_of_x(row.text), row.value) << row.text;
}

// What a function makes has no words of its own: it is the same disjunct when it is the same data.
TEST(Disjunction, of_lists_and_structs_that_functions_make_keeps_those_that_differ) {
  const struct {
    const char* x;
    const char* value;
  } kRows[] = {
      {"strings.Split(\"a\", \",\") | strings.Split(\"b\", \",\")", "[\"a\"] | [\"b\"]"},
      {"strings.Split(\"a\", \",\") | strings.Split(\"a\", \";\")", "[\"a\"]"},
      {"list.Range(0, 2, 1) | list.Range(1, 3, 1)", "[0, 1] | [1, 2]"},
      {"json.Unmarshal(\"{\\\"a\\\":1}\") | json.Unmarshal(\"{\\\"a\\\":2}\")", "{ a: 1 } | { a: 2 }"},
      {"*strings.Split(\"a\", \",\") | strings.Split(\"b\", \",\")", "*[\"a\"] | [\"b\"]"},
  };
  for (const auto& row : kRows) {
    const std::string text =
        "import \"strings\"\nimport \"list\"\nimport \"encoding/json\"\n_u: [strings.MinRunes(1), list.MinItems(1), "
        "json.Valid]\nx: ";
    EXPECT_EQ(value_of_x(text + row.x), row.value) << row.x;
  }
}

}  // namespace
}  // namespace slipway::cue

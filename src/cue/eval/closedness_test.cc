// Which structs are shown as closed, and what they do not allow.
#include <gtest/gtest.h>

#include "cue/eval/assertions_test.h"

namespace slipway::cue {
namespace {

// The paths of the closed structs below `x`, with dots between.
std::string closed_in_x(const std::string& text) {
  auto program = compile_program({{"x.cue", text}}, {}, {});
  if (!program->diagnostics.empty()) return program->diagnostics[0].message;
  Evaluator evaluator(*program, {.max_steps = 150'000});
  const Vertex* root = deref(evaluator.run({}));
  std::string out;
  std::function<void(const json::Value&, const std::string&)> walk = [&](const json::Value& tree, const std::string& path) {
    if (tree["k"].as_string() == "_|_") out += "!" + path + " ";
    if (tree["closed"].as_bool()) out += path + " ";
    for (const json::Value& field : tree["f"].items()) walk(field.item(2), path + "." + field.item(0).str());
  };
  walk(testing::tree_of(evaluator, evaluator.find_arc(root, evaluator.labels().regular("x")), 0), "x");
  return out;
}

TEST(Closedness, is_shown_where_a_definition_has_a_say) {
  const struct {
    const char* text;
    const char* closed;
  } kRows[] = {
      {"#D: p: {...}\nx: #D & {p: q: r: 1}", "x x.p "}, {"#D: p: _\nx: #D & {p: q: r: 1}", "x x.p x.p.q "},
      {"#D: _\nx: #D & {p: q: 1}", "x x.p "},           {"#D: p: {}\nx: {#D, q: {}}", "x x.p "},
      {"y: z: {}\n#D: p: y\nx: #D", "x x.p x.p.z "},    {"#D: p: q: int\nx: (#D & {}).p & {r: 1}", "x "},
  };
  for (const auto& row : kRows) EXPECT_EQ(closed_in_x(row.text), row.closed) << row.text;
}

TEST(Closedness, binds_what_is_embedded_with_a_definition) {
  const char* kText = "#P: {p?: int}, #O: {...}, #Q: {q: r: int}\n";
  const struct {
    const char* text;
    bool is_allowed;
  } kRows[] = {
      {"x: {#P, s: t: 1} & {s: u: 1}", false},    {"x: {#O, s: t: 1} & {s: u: 1}", true},
      {"x: {#O, #P, s: t: 1} & {s: u: 1}", true}, {"x: {#P, s: t: 1, ...} & {s: u: 1}", false},
      {"x: {#Q, #O} & {q: u: 1}", false},         {"x: {#P, {s: t: 1}} & {s: u: 1}", false},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(closed_in_x(std::string(kText) + row.text).find('!') == std::string::npos, row.is_allowed) << row.text;
  }
}

TEST(Closedness, of_what_is_embedded_lets_in_the_outermost_struct_around_it) {
  const char* kText = "#C: {c?: int}, A: {a: 1}, M: m: z: 1, #P: {p?: int}, #S: #P & {q?: int}\n";
  const struct {
    const char* text;
    bool is_allowed;
  } kRows[] = {
      {"x: {m: {#C}, m: z: 1}", false},
      {"x: {A, m: {#C}, m: z: 1}", true},
      {"x: {A, m: #C, m: z: 1}", false},
      {"x: {A, m: {#C}} & {m: z: 1}", false},
      {"x: {A, k: m: {#C}, k: m: z: 1}", true},
      {"x: {k: {A, m: {#C}}, k: m: z: 1}", false},
      {"x: {M, m: {#C}}", true},
      {"x: M & {m: {#C}}", false},
      {"x: {if true {b: 1}, l: [{#C}], l: [{z: 1}]}", true},
      {"x: {{#C} & {z: 1}}", true},
      {"x: {#C & {z: 1}}", false},
      {"x: {#S, {#S}}, x: q: 1", false},  // the same twice is once
      {"#D: k: {#C}, x: {A, m: #D, m: k: z: 1}", false},
      {"#D: k: #C, x: {#D, k: z: 1}", true},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(closed_in_x(std::string(kText) + row.text).find('!') == std::string::npos, row.is_allowed)
        << row.text << closed_in_x(std::string(kText) + row.text);
  }
}

TEST(Closedness, of_a_definition_that_is_only_closed_ends_with_it) {
  const char* kText = "L: close({m: {}}), #M: L, #N: p: L, a: {}, #A: {}\n";
  const struct {
    const char* text;
    const char* wrong;
  } kRows[] = {
      {"x: #M & {m: n: 1}", ""},
      {"x: #M & {n: 1}", "x x.n"},
      {"x: {#M} & {m: n: 1}", "x x.m x.m.n"},
      {"x: #N & {p: m: n: 1}", "x x.p x.p.m x.p.m.n"},
      {"x: #A & {y: 1 & a.p}", "x.y"},
      {"x: #A & {a.p, n: 1}", "x"},
      {"x: #A & {a.p, n: m: 1}", "x x.n x.n.m"},
  };
  for (const auto& row : kRows) {
    std::string found = closed_in_x(std::string(kText) + row.text);
    std::string wrong;
    for (std::size_t at = found.find('!'); at != std::string::npos; at = found.find('!', at + 1))
      wrong += (wrong.empty() ? "" : " ") + found.substr(at + 1, found.find(' ', at) - at - 1);
    EXPECT_EQ(wrong, row.wrong) << row.text;
  }
}

TEST(Closedness, holds_beside_validators_but_for_schemas) {
  std::string start = "import \"struct\"\n";
  EXPECT_TRUE(closed_in_x(start + "#D: {struct.MaxFields(2), p?: int}\nx: #D & {q: 1}").starts_with("!"));
  EXPECT_EQ(closed_in_x("#D: matchN(1, [{p: int}])\nx: #D & {p: 1, q: 1}"), "x ");
}

// The error belongs to the field that is not allowed, wherever its value comes from.
TEST(Closedness, a_field_that_is_not_allowed_is_told_of_when_it_is_only_a_reference) {
  auto errors = [](const char* text) {
    auto program = compile({{"x.cue", text}});
    return program ? describe(evaluate(*program).validate()) : describe(program.error());
  };
  EXPECT_TRUE(errors("#C: {a: 1}\ncfg: #C & {n: x}\nx: 1").starts_with("cfg.n: field not allowed:\n"));
  EXPECT_TRUE(errors("#C: {a: 1}\ncfg: #C & {n: x}\nx: {b: 1}").starts_with("cfg.n: field not allowed:\n"));
  EXPECT_TRUE(errors("#C: {a: 1}\ncfg: #C & {n: x.y}\nx: {y: [1]}").starts_with("cfg.n: field not allowed:\n"));
  EXPECT_EQ(errors("#C: {a: int}\ncfg: #C & {a: x}\nx: 1"), "");
}

}  // namespace
}  // namespace slipway::cue

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

}  // namespace
}  // namespace slipway::cue

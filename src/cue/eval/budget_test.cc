// A budget that ends where what fails is dropped.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "cue/cue.h"
#include "cue/evaluation.h"

namespace slipway::cue {
namespace {

Program compiled_costly(const std::string& text) {
  auto program = compile({{"in.cue", text}});
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  return *program;
}

// Ten thousand steps: far more than what is around it.
constexpr const char* kLongList =
    "\n#n: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n#Long: [for x in #n for y in #n for z in #n {x + y + z}]\n";

// That the budget has ended is all that is told, of the whole and of each field, and always the same.
void expect_failure(const std::string& text, Limits limits, const std::string& message = "evaluation takes too many steps") {
  Program program = compiled_costly(text);
  std::string first;
  for (int i = 0; i < 3; ++i) {
    Cursor root = evaluate(program, {}, limits);
    Errors errors = root.validate();
    ASSERT_EQ(errors.size(), 1u) << describe(errors);
    EXPECT_EQ(errors[0].message, message);
    EXPECT_FALSE(errors[0].path.empty());
    if (i == 0) first = describe(errors);
    EXPECT_EQ(describe(errors), first);
    EXPECT_EQ(describe(root.validate(Demand::Concrete)), first);
    EXPECT_EQ(root.kind(), Kind::Bottom);
    for (const FieldCursor& field : root.fields(true)) {
      EXPECT_EQ(describe(field.value.validate()), first);
      EXPECT_EQ(field.value.kind(), Kind::Bottom);
      EXPECT_EQ(field.value.to_cue(), "_|_");
      auto json = field.value.to_json();
      ASSERT_FALSE(json.has_value()) << field.name;
      EXPECT_EQ(describe(json.error()), first);
    }
    Cursor copied = evaluate(compiled_costly("hole: _"), {{"hole", root}});
    EXPECT_FALSE(copied.validate().empty());
  }
}

TEST(Budget, that_ends_inside_a_disjunct_fails_the_whole) {
  const std::string text = std::string("v: null | {n: 999 & len(#Long)}\nok: 1") + kLongList;
  EXPECT_EQ(evaluate(compiled_costly(text)).lookup("v").kind(), Kind::Null);
  expect_failure(text, {.max_steps = 3000});
  expect_failure(text, {.max_bytes = 100'000}, "evaluation takes too much memory");
  expect_failure(std::string("v: *{n: len(#Long)} | null") + kLongList, {.max_steps = 3000});
  expect_failure(std::string("v: {a: 1} | {a: len(#Long)}\nv: a: 1") + kLongList, {.max_steps = 3000});
}

TEST(Budget, that_ends_inside_a_guard_fails_the_whole) {
  expect_failure(std::string("if len(#Long) > 5 {a: 1}\nok: 1") + kLongList, {.max_steps = 3000});
  expect_failure(std::string("v: {if #Long[3] == 3 {a: 1}} | {b: 1}") + kLongList, {.max_steps = 3000});
}

TEST(Budget, that_ends_inside_a_presence_test_fails_the_whole) {
  for (const char* test : {"#Long[999] != _|_", "#Long[999] == _|_", "len(#Long) == _|_"})
    expect_failure(std::string("v: [if ") + test + " {1}, 0][0]\nif " + test + " {w: 1}" + kLongList, {.max_steps = 3000});
}

TEST(Budget, of_depth_that_ends_where_it_is_dropped_fails_the_whole) {
  const std::string text =
      "v: null | {a: b: c: d: e: f: g: 1, a: b: c: d: e: f: g: 2}\nif a.b.c.d != _|_ {w: 1}\na: b: c: d: 1";
  EXPECT_EQ(evaluate(compiled_costly(text)).lookup("v").kind(), Kind::Null);
  expect_failure(text, {.max_depth = 4}, "nested too deeply");
}

TEST(Budget, at_every_step_is_a_failure_or_the_value) {
  const std::string text =
      "v: null | {n: 3 & len(#s)}\nw: [if len(#s) == _|_ {1}, 0][0]\n"
      "if v.n != _|_ {u: v.n}\nlet l = {x: *#s[1] | 7}\nx: l.x\n#s: [for k in [1, 2] {k + 1}]";
  Program program = compiled_costly(text);
  const std::string right = evaluate(program).to_json_text().value();
  bool has_ended = true;
  for (std::uint64_t steps = 1; has_ended; ++steps) {
    Cursor root = evaluate(program, {}, {.max_steps = steps});
    has_ended = root.evaluation()->evaluator().spent() != nullptr;
    EXPECT_EQ(root.validate().empty(), !has_ended) << steps;
    auto json = root.to_json_text();
    if (json) {
      EXPECT_EQ(*json, right) << steps;
    }
  }
}

// Far more steps than there are between two looks.
const std::string kEndless = "l: [for i in #n for j in #n for k in #n for m in #n {i + j + k + m}]" + std::string(kLongList);

TEST(Budget, ends_when_its_caller_says_it_is_overdue) {
  int looks = 0;
  Limits limits;
  limits.is_overdue = [&looks] { return ++looks > 3; };
  Cursor root = evaluate(compiled_costly(kEndless), {}, limits);
  Errors errors = root.validate();
  ASSERT_EQ(errors.size(), 1u) << describe(errors);
  EXPECT_EQ(errors[0].message, "evaluation takes too long");
  EXPECT_FALSE(errors[0].path.empty());
  EXPECT_EQ(looks, 4);  // it has ended: the budget is not asked again
  EXPECT_LE(root.evaluation()->evaluator().steps(), 5 * Meter::kStepsPerLook);
  EXPECT_FALSE(root.to_json().has_value());
}

TEST(Budget, ends_when_it_is_cancelled) {
  std::atomic<bool> cancelled = false;
  int looks = 0;
  Limits limits;
  limits.cancelled = &cancelled;
  limits.is_overdue = [&] {
    if (++looks == 2) cancelled = true;  // as another thread would
    return false;
  };
  Errors errors = evaluate(compiled_costly(kEndless), {}, limits).validate();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "evaluation was cancelled");
  EXPECT_EQ(looks, 2);
  Cursor late = evaluate(compiled_costly("a: 1"), {}, limits);
  EXPECT_EQ(late.validate()[0].message, "evaluation was cancelled");
}

// A function that loops on its own looks as often as an expression.
TEST(Budget, is_looked_at_inside_functions) {
  for (const char* text : {"import \"list\"\nx: list.Range(0, 100000, 0.5)",
                           "import \"list\"\nx: list.Sort(list.Range(0, 20000, 1), {x: _, y: _, less: -x < -y})",
                           "import \"list\"\nx: list.SortStrings([for i in list.Range(0, 100000, 1) {\"a\\(i)\"}])"}) {
    bool is_overdue = false;
    int looks = 0;
    Limits limits;
    limits.is_overdue = [&] { return ++looks > 2 || is_overdue; };
    Errors errors = evaluate(compiled_costly(text), {}, limits).validate();
    ASSERT_EQ(errors.size(), 1u) << text;
    EXPECT_EQ(errors[0].message, "evaluation takes too long") << text;
  }
}

TEST(Budget, goes_along_with_what_is_filled_in_later) {
  int looks = 0;
  Limits limits = Limits::for_template();
  limits.is_overdue = [&looks] { return ++looks < 0; };
  Cursor root = evaluate(compiled_costly("a: int\nb: a + 1"), {}, limits);
  const int before = looks;
  Cursor filled = fill(root, {{"a", json::Value(1)}});
  EXPECT_EQ(filled.field("b").as_int(), 2);
  EXPECT_GT(looks, before);
  EXPECT_EQ(filled.evaluation()->limits().max_steps, 2'000'000u);
}

TEST(Budget, of_a_template_is_less_than_that_of_the_command_line) {
  EXPECT_LT(Limits::for_template().max_steps, Limits::for_command_line().max_steps);
  EXPECT_LT(Limits::for_template().max_bytes, Limits::for_command_line().max_bytes);
}

// Programs that would go on for ever, or take all memory: they end within the budget of a template.
TEST(Budget, ends_what_grows_beyond_all_bounds) {
  std::string disjunctions = "a: ";
  for (int i = 0; i < 12; ++i) {
    disjunctions += i == 0 ? "(" : " & (";
    for (int k = 0; k < 6; ++k)
      disjunctions += (k == 0 ? "{" : " | {") + std::string("f") + std::to_string(i * 6 + k) + ": " + std::to_string(k) + "}";
    disjunctions += ")";
  }
  std::string tree = "a0: {v: 1}\n";
  for (int i = 0; i < 40; ++i) {
    const std::string below = "a" + std::to_string(i);
    tree += "a" + std::to_string(i + 1) + ": {l: " + below + ", r: " + below + "}\n";
  }
  const Limits limits = Limits::for_template();
  for (const std::string& text :
       {disjunctions, tree + "x: a40 & {l: l: r: l: v: _}", kEndless + "\nm: [for a in l for b in l {a}]"}) {
    Cursor root = evaluate(compiled_costly(text), {}, limits);
    (void)root.to_json_text();
    const Evaluator& evaluator = root.evaluation()->evaluator();
    EXPECT_LE(evaluator.used_bytes(), limits.max_bytes + (std::size_t{1} << 20)) << text.substr(0, 60);
    EXPECT_LE(evaluator.steps(), limits.max_steps + limits.max_steps / 10) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace slipway::cue

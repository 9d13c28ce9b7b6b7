// What functions charge for what they look at and make. Costs are steps and bytes, not time: a step is less than a microsecond.
#include <gtest/gtest.h>

#include <string>

#include "cue/cue.h"
#include "cue/evaluation.h"

namespace slipway::cue {
namespace {

Program compiled_call(const std::string& text) {
  auto program = compile({{"in.cue", text}});
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  return *program;
}

struct Cost {
  std::uint64_t steps;
  std::uint64_t bytes;
};

Cost cost_of(const std::string& text) {
  Cursor root = evaluate(compiled_call(text));
  EXPECT_EQ(describe(root.validate()), "") << text;
  return {root.evaluation()->evaluator().steps(), root.evaluation()->evaluator().used_bytes()};
}

std::string number(int i) { return std::to_string(i); }

constexpr const char* kImports = "import \"list\"\nimport \"strings\"\nimport \"encoding/json\"\nimport \"regexp\"\n";

/// `text` with SIZE for a number, over ten times as many items or bytes: ten times the cost and a little, for the logarithm.
void expect_proportional(const std::string& text) {
  SCOPED_TRACE(text);
  auto at = [&](int size) {
    std::string filled = text;
    for (std::size_t place = filled.find("SIZE"); place != std::string::npos; place = filled.find("SIZE"))
      filled.replace(place, 4, number(size));
    return cost_of(kImports + filled +
                   "\n_used: [list.Sum([]), strings.MinRunes(0), json.Marshal(1), regexp.Match(\"a\", \"a\")]");
  };
  const Cost small = at(1000);
  const Cost large = at(10'000);
  EXPECT_LE(large.steps, 14 * small.steps);
  EXPECT_LE(large.bytes, 14 * small.bytes);
}

TEST(StdLimits, loops_over_items_cost_what_they_are_long) {
  for (const char* text : {
           "#l: list.Range(0, SIZE, 1)\nx: list.UniqueItems(#l)",
           "#l: list.Range(0, SIZE, 1)\nx: list.Sort(#l, list.Descending)[0]",
           "#l: list.Range(0, SIZE, 1)\nx: list.Sort([for i in #l {a: -i}], {x: _, y: _, less: x.a < y.a})[0]",
           "#l: [for i in list.Range(0, SIZE, 1) {\"a\\(i)\"}]\nx: list.SortStrings(#l)[0]",
           "#l: list.Range(0, SIZE, 1)\nx: list.Sum(#l)",
           "#l: list.Range(0, SIZE, 1)\nx: list.Slice(#l, 1, 3)",
           "#l: list.Range(0, SIZE, 1)\nx: list.Contains(#l, -1)",
           "#l: list.Range(0, SIZE, 1)\nx: list.Reverse(#l)[0]",
           "#l: list.Range(0, SIZE, 1)\nx: list.Concat([#l, #l])[0]",
           "#l: list.Range(0, SIZE, 1)\nx: list.FlattenN([[#l]], -1)[0]",
           "#l: list.Range(0, SIZE, 1)\nx: list.IsSorted(#l, list.Ascending)",
           "#l: list.Range(0, SIZE, 1)\nx: [for i in #l if i > 5 {i}][0]",
           "#l: list.Range(0, SIZE, 1)\nx: [for i in #l {\"item \\(i)\"}][0]",
           "#l: list.Range(0, SIZE, 1)\n#s: {for i in #l {\"f\\(i)\": i}}\nx: len(#s)",
           "#l: list.Range(0, SIZE, 1)\nx: len(json.Marshal(#l))",
           "#l: list.Range(0, SIZE, 1)\nx: len(json.Unmarshal(json.Marshal(#l)))",
           "#l: list.Repeat([{a: [1]}], SIZE)\nx: list.UniqueItems([#l]) & true",
       })
    expect_proportional(text);
}

TEST(StdLimits, loops_over_texts_cost_what_they_are_long) {
  for (const char* text : {
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(#t)",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(strings.Replace(#t, \"a\", \"cd\", -1))",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(strings.Replace(#t, \"\", \"-\", -1))",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(strings.Split(#t, \"a\"))",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(strings.Join(strings.Split(#t, \"\"), \",\"))",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(strings.ToUpper(#t) + #t)",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(\"\\(#t)\\(#t)\")",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(strings.Runes(#t))",
           "#t: strings.Repeat(\"ab \", SIZE)\nx: len(strings.Fields(#t))",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: len(strings.Trim(#t, #t))",
           "#t: strings.Repeat(\"ab\", SIZE)\nx: regexp.Match(\"c\", #t)",
       })
    expect_proportional(text);
}

// A size is kept, not counted: a loop may ask for it each time.
TEST(StdLimits, asking_for_a_size_costs_the_same_however_large_it_is) {
  auto steps = [](int size) {
    return cost_of("import \"list\"\n#l: list.Repeat([1], " + number(size) +
                   ")\nx: [for i in list.Range(0, 100, 1) if len(#l) > i {i}]")
        .steps;
  };
  EXPECT_LE(steps(10'000), steps(100) + 4 * 10'000);
}

TEST(StdLimits, sizes_are_those_of_items_and_of_fields_that_are_there) {
  auto value = [](const char* text) {
    Cursor x = evaluate(compiled_call(text)).field("x");
    auto json = x.to_json_text();
    return json ? *json : describe(json.error());
  };
  EXPECT_EQ(value("x: len([1, 2, {a: 1}])"), "3");
  EXPECT_EQ(value("#l: {[1, 2], #d: 1}\nx: len(#l)"), "2");
  EXPECT_EQ(value("#s: {a: 1, b?: 2, c!: int, _h: 1, #d: 1}\nx: len(#s)"), "1");
  EXPECT_EQ(value("#s: {a?: 1} & {a: 1, b: 2}\nx: len(#s)"), "2");
  EXPECT_EQ(value("#s: {a: 1, if true {b: 1}, \"c\\(1)\": 2, [string]: int}\nx: len(#s)"), "3");
  EXPECT_EQ(value("x: len([...int] & [1, 2])"), "2");
  EXPECT_EQ(value("x: len([for i in [1, 2, 3] if i != 2 {i}])"), "2");
  EXPECT_EQ(value("x: len({} | *{a: 1})"), "1");
}

/// That the budget of a template has ended, with not much more memory than it allows.
void expect_end(const std::string& text, const std::string& message) {
  SCOPED_TRACE(text);
  const Limits limits = Limits::for_template();
  Cursor root =
      evaluate(compiled_call(kImports + text +
                             "\n_used: [list.Sum([]), strings.MinRunes(0), json.Marshal(1), regexp.Match(\"a\", \"a\")]"),
               {}, limits);
  Errors errors = root.validate();
  ASSERT_EQ(errors.size(), 1u) << describe(errors);
  EXPECT_EQ(errors[0].message, message);
  EXPECT_LE(root.evaluation()->evaluator().used_bytes(), limits.max_bytes + (std::size_t{1} << 20));
  EXPECT_FALSE(root.to_json().has_value());
}

TEST(StdLimits, memory_is_asked_for_before_it_is_taken) {
  constexpr const char* kBytes = "evaluation takes too much memory";
  expect_end("a: strings.Repeat(\"abcdefgh\", 1000000)\nb: strings.Replace(a, \"a\", a, -1)", kBytes);
  expect_end("a: strings.Repeat(\"abcdefgh\", 1000000)\nb: strings.Repeat(a, 1000000)", kBytes);
  expect_end("a: strings.Repeat(\"abcdefgh\", 1000000)\nb: strings.Split(a, \"\")", kBytes);
  expect_end("a: strings.Repeat(\"abcdefgh\", 1000000)\nb: strings.Join([for i in list.Range(0, 100, 1) {a}], \"\")", kBytes);
  expect_end("a: strings.Repeat(\"abcdefgh\", 1000000)\nb: regexp.ReplaceAll(\"a\", a, a)", kBytes);
  expect_end(
      "a: strings.Repeat(\"abcdefgh\", 1000000)\nb: json.Unmarshal(\"[\\(strings.Repeat(\"1,\", 1000000))1]\")\nc: "
      "json.Marshal([a, a, a, a, a])",
      kBytes);
  expect_end("a: list.Range(0, 1000000, 1)", kBytes);
  expect_end("a: list.Repeat([1], 1000000)", kBytes);
  std::string doubled = "a0: strings.Repeat(\"a\", 1000)\n";
  for (int i = 0; i < 30; ++i) doubled += "a" + number(i + 1) + ": \"\\(a" + number(i) + ")\\(a" + number(i) + ")\"\n";
  expect_end(doubled, kBytes);
  std::string added = "a0: strings.Repeat(\"a\", 1000)\n";
  for (int i = 0; i < 30; ++i) added += "a" + number(i + 1) + ": a" + number(i) + " + a" + number(i) + "\n";
  expect_end(added, kBytes);
}

TEST(StdLimits, work_that_grows_with_the_square_is_charged_as_such) {
  constexpr const char* kSteps = "evaluation takes too many steps";
  expect_end("import \"path\"\na: path.Match(strings.Repeat(\"*a\", 20) + \"b\", strings.Repeat(\"a\", 200), path.Unix)",
             kSteps);
  expect_end("import \"strconv\"\na: strconv.Atoi(strings.Repeat(\"9\", 1000000))", kSteps);
  expect_end("import \"math/bits\"\na: bits.Lsh(1, 1000000)", kSteps);
  // Each search goes to the end of the text before it takes one character.
  expect_end("a: regexp.FindAll(\"a*b|a\", strings.Repeat(\"a\", 1000000), -1)", kSteps);
}

}  // namespace
}  // namespace slipway::cue

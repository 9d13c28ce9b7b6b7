// The face of the library where no other test looks: values that are only partly there, every export, errors as data, budgets.
#include <gtest/gtest.h>

#include "cue/cue.h"
#include "cue/patch/patch.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

Program compiled_face(const std::string& text, const CompileOptions& options = {}) {
  auto program = compile({{"x.cue", text}}, {}, options);
  EXPECT_TRUE(program.has_value()) << text << (program ? "" : describe(program.error()));
  return *program;
}

TEST(Face, tells_what_kind_of_value_each_field_is_so_far) {
  Cursor root =
      evaluate(compiled_face("n: null, b: true, i: 3, f: 1.5, s: \"x\", y: 'x', o: {}, l: [1], w: 1 & 2, t: int, d: 1 | 2, "
                             "p: *\"q\" | string, r: t + 1"));
  std::map<std::string, Kind> kinds;
  for (const FieldCursor& one : root.fields()) kinds[one.name] = one.value.kind();
  EXPECT_EQ(kinds, (std::map<std::string, Kind>{{"n", Kind::Null},
                                                {"b", Kind::Bool},
                                                {"i", Kind::Int},
                                                {"f", Kind::Float},
                                                {"s", Kind::String},
                                                {"y", Kind::Bytes},
                                                {"o", Kind::Struct},
                                                {"l", Kind::List},
                                                {"w", Kind::Bottom},
                                                {"t", Kind::Open},
                                                {"d", Kind::Open},
                                                {"p", Kind::String},
                                                {"r", Kind::Open}}));
  EXPECT_EQ(root.lookup("nothing.at.all").kind(), Kind::Absent);
  EXPECT_EQ(root.lookup("i").as_string("no"), "no");
  EXPECT_EQ(root.lookup("p").as_string(), "q");
  EXPECT_TRUE(root.lookup("b").as_bool());
  EXPECT_EQ(root.lookup("l").item(0).as_int(), 1);
  EXPECT_FALSE(root.lookup("l").item(1).exists());
}

TEST(Face, goes_through_what_is_there_beside_what_is_not) {
  Cursor root = evaluate(compiled_face("x: {a: 1, b: a + c, c: int, d?: 1, e!: 2, #f: 3, _g: 4, \"h.i\": {j: [1, {k: c}]}}"));
  Cursor x = root.field("x");
  std::vector<std::string> names;
  for (const FieldCursor& one : x.fields()) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "h.i"}));
  std::map<std::string, ast::Mark> marks;
  for (const FieldCursor& one : x.fields(true)) marks[one.name] = one.mark;
  EXPECT_EQ(marks.size(), 8u);
  EXPECT_EQ(marks["d"], ast::Mark::Optional);
  EXPECT_EQ(marks["e"], ast::Mark::Required);
  EXPECT_EQ(marks["#f"], ast::Mark::Regular);
  EXPECT_EQ(root.lookup("x.\"h.i\".j.0").as_int(), 1);
  EXPECT_EQ(root.lookup("x.\"h.i\".j.1.k").path(), "x.\"h.i\".j.1.k");
  EXPECT_EQ(root.lookup("x.#f").as_int() + root.lookup("x._g").as_int(), 7);
  EXPECT_EQ(root.lookup("x.\"h.i\".j").items().size(), 2u);
  EXPECT_TRUE(root.field("x").field("a").is_concrete());
  EXPECT_FALSE(root.field("x").field("c").is_concrete());
}

TEST(Face, validates_in_both_senses) {
  Cursor incomplete = evaluate(compiled_face("a: int\n_h: int\n#D: {x: int}\nb: {c!: 1}"));
  EXPECT_TRUE(incomplete.validate(Demand::Valid).empty());
  Errors missing = incomplete.validate(Demand::Concrete);
  ASSERT_EQ(missing.size(), 2u) << describe(missing);
  EXPECT_EQ(missing[0].path, "a");
  EXPECT_EQ(missing[1].path, "b.c");
  for (const char* wrong : {"_h: 1 & 2", "#D: {x: 1 & 2}", "a: b: 1 & 2", "l: [1 & 2]"}) {
    Cursor root = evaluate(compiled_face(wrong));
    EXPECT_EQ(root.validate(Demand::Valid).size(), 1u) << wrong;
    EXPECT_FALSE(root.to_json().has_value()) << wrong;
  }
}

TEST(Face, exports_json_yaml_and_cue) {
  Cursor root = evaluate(compiled_face("a: {c: 1e3, b: 'hi', t: \"x: y\", l: [{m: null}]}\nv: int"));
  Cursor a = root.field("a");
  EXPECT_EQ(*a.to_json_text(), R"({"c":1E+3,"b":"aGk=","t":"x: y","l":[{"m":null}]})");
  EXPECT_EQ((*a.to_json())["l"].item(0)["m"], json::Value());
  EXPECT_EQ(*a.to_yaml(), "c: 1E+3\nb: aGk=\nt: 'x: y'\nl:\n- m: null\n");
  EXPECT_EQ(root.to_cue(), "a: {\n\tc: 1e+3\n\tb: 'hi'\n\tt: \"x: y\"\n\tl: [{\n\t\tm: null\n\t}]\n}\nv: int\n");
  EXPECT_EQ(root.field("v").to_json().error()[0].code, "incomplete");
}

TEST(Face, says_what_may_have_been_meant) {
  Errors errors = evaluate(compiled_face("#P: {image: string, replicas?: int}\np: #P & {image: \"x\", replica: 1}")).validate();
  ASSERT_EQ(errors.size(), 1u) << describe(errors);
  EXPECT_EQ(errors[0].hint, "did you mean \"replicas\"?");
  json::Value as_data = to_json(errors);
  EXPECT_EQ(as_data.item(0)["path"].str(), "p.replica");
  EXPECT_EQ(as_data.item(0)["code"].str(), "eval");
  EXPECT_EQ(as_data.item(0)["positions"].item(0)["file"].str(), "x.cue");
  EXPECT_EQ(as_data.item(0)["hint"].str(), errors[0].hint);
}

TEST(Face, says_what_was_expected_and_which_disjunct_came_closest) {
  auto told = [](const std::string& text) { return to_json(evaluate(compiled_face(text)).validate(Demand::Concrete)).item(0); };
  json::Value plain = told("#P: {n: int}\np: #P & {n: \"x\"}");
  EXPECT_EQ(plain["expected"].str() + ", " + plain["got"].str(), "int, \"x\"");
  json::Value bound = told("n: <5\nn: 7");
  EXPECT_EQ(bound["expected"].str() + ", " + bound["got"].str(), "<5, 7");
  EXPECT_EQ(told("n: int | string")["expected"].str(), "int | string");
  // The word that tells which one is meant, before how much is wrong.
  json::Value app =
      told("#A: {kind: \"web\", image: string} | {kind: \"cron\", image: string}\na: #A & {imag: \"x\", kind: \"cron\"}");
  EXPECT_EQ(app["closest"]["path"].str(), "a.imag");
  EXPECT_EQ(app["closest"]["hint"].str(), "did you mean \"image\"?");
  EXPECT_EQ(told("p: string | {n: int}\np: {n: \"x\"}")["closest"]["path"].str(), "p.n");
  json::Value word = told("e: \"dev\" | \"prod\"\ne: \"prdo\"");
  EXPECT_EQ(word["hint"].str(), "did you mean \"prod\"?");
  EXPECT_EQ(word["expected"].str() + ", " + word["got"].str(), "\"dev\" | \"prod\", \"prdo\"");
  EXPECT_FALSE(told("e: \"dev\" | \"prod\"\ne: \"other\"").has("closest"));
}

TEST(Face, takes_several_holes_in_one_field_and_leaves_out_what_is_absent) {
  Program program =
      compiled_face("n: context.output.a\nm: context.outputs.\"x-y\".b\nk: context.name", {.open_names = {"context"}});
  Cursor earlier = evaluate(compiled_face("output: {a: *1 | int}\nb: 2"));
  Cursor root = evaluate(program, {{"context", json::object({{"name", "web"}})},
                                   {"context.output", earlier.field("output")},
                                   {"context.outputs.\"x-y\"", earlier},
                                   {"context.more", earlier.field("nothing")}});
  EXPECT_EQ(root.lookup("n").as_int(), 1);
  EXPECT_EQ(root.lookup("m").as_int(), 2);
  EXPECT_EQ(root.lookup("k").as_string(), "web");
  EXPECT_FALSE(root.lookup("context.more").exists());
}

TEST(Face, budgets_end_in_the_same_error_at_the_same_path_and_fill_keeps_them) {
  Program deep = compiled_face("a: b: c: d: e: f: 1\nx: {y: a.b.c.d.e.f}");
  Errors errors = evaluate(deep, {}, {.max_depth = 4}).validate();
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].message, "nested too deeply");
  EXPECT_TRUE(errors[0].path.starts_with("a.b.c")) << describe(errors);
  Program wide = compiled_face("n: int\nlist: [for i in [1,2,3,4,5,6,7,8,9,10] for k in [1,2,3,4,5,6,7,8,9,10] {i * k * n}]");
  Cursor root = evaluate(wide, {}, {.max_steps = 200});
  Errors first = root.validate();
  ASSERT_FALSE(first.empty());
  EXPECT_TRUE(first[0].path.starts_with("list")) << describe(first);
  EXPECT_FALSE(fill(root, {{"n", 2}}).validate().empty());
  EXPECT_TRUE(fill(evaluate(wide), {{"n", 2}}).validate().empty());
  EXPECT_FALSE(fill(root.field("list"), {{"n", 2}}).exists());
}

TEST(Face, cursors_keep_their_evaluation_and_programs_their_text) {
  Cursor kept;
  {
    std::string text = "a: {b: \"\\(n)!\"}\nn: \"x\"";
    kept = evaluate(compiled_face(text)).lookup("a.b");
    text.assign(text.size(), '?');
  }
  EXPECT_EQ(kept.as_string(), "x!");
  EXPECT_EQ(kept.path(), "a.b");
}

}  // namespace
}  // namespace slipway::cue

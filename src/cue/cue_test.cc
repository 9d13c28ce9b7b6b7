#include "cue/cue.h"

#include <gtest/gtest.h>

#include <thread>

#include "json/text.h"

namespace slipway::cue {
namespace {

Program compiled_text(const char* text, CompileOptions options = {}, Packages packages = {}) {
  auto program = compile({{"x.cue", text}}, packages, options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  return *program;
}

TEST(Cue, evaluates_a_program_many_times_with_different_data) {
  Program program = compiled_text(
      "parameter: {image: string, port: *80 | int}\noutput: {name: context.name, image: parameter.image, port: parameter.port}",
      {.open_names = {"context"}});
  for (const char* name : {"a", "b"}) {
    Cursor root =
        evaluate(program, {{"parameter", json::object({{"image", "nginx"}})}, {"context", json::object({{"name", name}})}});
    auto output = root.lookup("output").to_json_text();
    ASSERT_TRUE(output.has_value());
    EXPECT_EQ(*output, std::string("{\"name\":\"") + name + "\",\"image\":\"nginx\",\"port\":80}");
  }
}

TEST(Cue, takes_an_incomplete_value_of_an_earlier_evaluation_as_a_hole) {
  Cursor first = evaluate(compiled_text("output: {name: string, replicas: *1 | int, kind: \"D\"}"));
  Cursor second =
      evaluate(compiled_text("context: output: name: \"web\"\nkind: context.output.kind\nn: context.output.replicas",
                             {.open_names = {}}),
               {{"context", evaluate(compiled_text("output: {name: string, replicas: *1 | int, kind: \"D\"}"))}});
  EXPECT_EQ(first.field("output").field("name").kind(), Kind::Open);
  auto text = second.to_json_text();
  ASSERT_TRUE(text.has_value()) << describe(text.error());
  EXPECT_EQ(*text, "{\"context\":{\"output\":{\"name\":\"web\",\"replicas\":1,\"kind\":\"D\"}},\"kind\":\"D\",\"n\":1}");
}

TEST(Cue, knows_the_paths_of_what_came_as_data) {
  Program program = compiled_text("p: {a: _, ...}\nx: context.a.b", {.open_names = {"context"}});
  json::Value data = *json::parse(R"({"a":{"b":[1,{"c":2}]}})");
  Cursor root = evaluate(program, {{"context", data}, {"p", data}});
  for (const char* path : {"context.a.b", "context.a.b.1.c", "p.a.b.1.c"}) EXPECT_EQ(root.lookup(path).path(), path);
  EXPECT_EQ(root.lookup("x.1.c").as_int(), 2);
}

TEST(Cue, reports_both_positions_of_a_conflict_and_its_path) {
  Errors errors = evaluate(compiled_text("a: b: 1\na: b: 2")).validate();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "a.b");
  EXPECT_EQ(errors[0].message, "conflicting values 2 and 1");
  ASSERT_EQ(errors[0].positions.size(), 2u);
  EXPECT_EQ(errors[0].positions[0].line, 1);
  EXPECT_EQ(errors[0].positions[1].line, 2);
}

TEST(Cue, tells_incomplete_from_wrong) {
  Cursor root = evaluate(compiled_text("a: int\nb: a + 1\nc!: string"));
  EXPECT_TRUE(root.validate(Demand::Valid).empty());
  EXPECT_EQ(root.validate(Demand::Concrete).size(), 3u);
}

TEST(Cue, gives_docs_and_attributes_of_fields) {
  Cursor root = evaluate(compiled_text("// +usage=Which image\nimage: \"x\" @tag(i)\n_h: 1\no?: int"));
  auto fields = root.fields();
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].doc, std::vector<std::string>{"+usage=Which image"});
  EXPECT_EQ(fields[0].attributes, std::vector<std::string>{"@tag(i)"});
  EXPECT_EQ(root.fields(true).size(), 3u);
}

TEST(Cue, gives_the_comment_above_a_shorthand_to_its_innermost_field) {
  Cursor root = evaluate(compiled_text("// +patchStrategy=retainKeys\npatch: spec: {a: 1}"));
  EXPECT_TRUE(root.fields()[0].doc.empty());
  EXPECT_EQ(root.field("patch").fields()[0].doc, std::vector<std::string>{"+patchStrategy=retainKeys"});
}

TEST(Cue, shares_a_program_between_threads) {
  Program program = compiled_text("#D: {a: *1 | int, b: \"\\(a)\"}\nx: [for i in n {#D & {a: i}}]", {.open_names = {"n"}});
  std::vector<std::string> results(4);
  std::vector<std::jthread> threads;
  for (std::string& result : results) {
    threads.emplace_back([&program, &result] {
      for (int i = 0; i < 20; ++i) result = *evaluate(program, {{"n", json::array({1, 2, 3})}}).lookup("x").to_json_text();
    });
  }
  threads.clear();
  for (const std::string& result : results)
    EXPECT_EQ(result, "[{\"a\":1,\"b\":\"1\"},{\"a\":2,\"b\":\"2\"},{\"a\":3,\"b\":\"3\"}]");
}

TEST(Cue, no_input_overflows_the_stack) {
  std::string chain = "a0: 1\n";
  for (int i = 1; i < 3000; ++i) chain += "a" + std::to_string(i) + ": a" + std::to_string(i - 1) + " + 1\n";
  EXPECT_TRUE(evaluate(compiled_text(chain.c_str())).exists());
  std::string nested = "x: ";
  for (int i = 0; i < 200; ++i) nested += "{a: ";
  nested += "1";
  for (int i = 0; i < 200; ++i) nested += "}";
  EXPECT_TRUE(evaluate(compiled_text(nested.c_str())).exists());
}

TEST(Cue, imports_packages_the_host_provides) {
  Packages packages;
  packages["vela/op"] = {{"op.cue", "package op\n#Apply: {#do: \"apply\", value: {...}}"}};
  Cursor root = evaluate(compiled_text("import \"vela/op\"\napply: op.#Apply & {value: a: 1}", {}, packages));
  EXPECT_EQ(root.lookup("apply.#do").as_string(), "apply");
  EXPECT_EQ(*root.to_json_text(), "{\"apply\":{\"value\":{\"a\":1}}}");
}

TEST(Cue, stops_at_its_budget) {
  Cursor root = evaluate(compiled_text("a: [for x in l for y in l for z in l {x*y*z}]\nl: [1,2,3,4,5,6,7,8,9,10]"), {},
                         {.max_steps = 500});
  EXPECT_FALSE(root.validate().empty());
}

TEST(Cue, prints_values_as_cue) {
  EXPECT_EQ(evaluate(compiled_text("a: {b?: int, c: *1 | int}\nd: [string, ...]")).to_cue(),
            "a: {\n\tb?: int\n\tc: *1 | int\n}\nd: [string, ...]\n");
}

TEST(Cue, ranging_over_a_list_with_something_wrong_in_it_is_that_error) {
  Cursor root = evaluate(compiled_text("list: [{a: 1 & 2}, {b: 1}]\nfound: [for x in list if x.b != _|_ {x.b}]"));
  EXPECT_FALSE(root.lookup("found").to_json().has_value());
}

TEST(Cue, an_optional_field_of_a_closed_struct_may_come_yet) {
  Cursor root =
      evaluate(compiled_text("#P: {a?: int, b: *1 | int}\np: #P | close({c: int})\np: {b: 2}\nx: {y: p.a}\nz: {y: p.d}"));
  EXPECT_TRUE(root.field("x").validate().empty());
  EXPECT_FALSE(root.field("z").validate().empty());
}

TEST(Cue, a_conflict_is_told_where_it_is_and_not_where_it_was_noticed) {
  Errors errors =
      evaluate(compiled_text("out: [{if p.cmd != _|_ {c: p.cmd}}]\np: {cmd?: [...string]}\np: {cmd: [\"a\", 1]}")).validate();
  ASSERT_EQ(errors.size(), 1u) << describe(errors);
  EXPECT_EQ(errors[0].path, "p.cmd.1");
}

TEST(Cue, what_has_something_wrong_in_it_is_not_present_whichever_came_first) {
  const char* data = "p: cmd: [\"a\", 1]";
  const char* program = "out: {n: 1, if p.cmd != _|_ {c: p.cmd}}\np: cmd?: [...string]";
  for (const std::string& text : {data + std::string("\n") + program, program + std::string("\n") + data}) {
    auto out = evaluate(compiled_text(text.c_str())).field("out").to_json_text();
    ASSERT_TRUE(out.has_value()) << text << describe(out.error());
    EXPECT_EQ(*out, R"({"n":1})");
  }
}

TEST(Cue, comments_and_attributes_of_all_declarations_of_a_field_count) {
  auto fields =
      evaluate(compiled_text("#A: {\n\t// one\n\tx: int @a(1)\n}\ny: #A\ny: {\n\t// two\n\tx: 1 @b(2)\n}")).field("y").fields();
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].doc, (std::vector<std::string>{"two", "one"}));
  EXPECT_EQ(fields[0].attributes, (std::vector<std::string>{"@b(2)", "@a(1)"}));
}

}  // namespace
}  // namespace slipway::cue

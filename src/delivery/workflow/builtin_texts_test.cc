// The built-in texts as they are in the program: that each compiles and says what it is, and what packages offer to templates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cue/cue.h"
#include "cue/schema.h"
#include "cue/section.h"
#include "delivery/workflow/builtin_texts.h"
#include "delivery/workflow/template.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using cue::Cursor;
using json::Value;

std::string name_of(const BuiltinText& one) {
  const std::size_t slash = one.path.find('/');
  return std::string(one.path.substr(slash + 1, one.path.size() - slash - 5));
}

bool is_definition(const BuiltinText& one) { return !one.path.starts_with("package/") && !one.path.starts_with("view/"); }

std::optional<cue::Program> compiled_text(const std::string& name, const std::string& text) {
  auto program = cue::compile({{name, text}}, packages(), compile_options());
  EXPECT_TRUE(program.has_value()) << name << (program ? "" : ": " + cue::describe(program.error()));
  return program ? std::optional(*program) : std::nullopt;
}

TEST(BuiltinTexts, have_every_folder_and_packages_compile) {
  std::map<std::string, int> count;
  for (const BuiltinText& one : builtin_texts()) ++count[std::string(one.path.substr(0, one.path.find('/')))];
  EXPECT_GE(count["component"], 10);
  EXPECT_GE(count["trait"], 32);
  EXPECT_GE(count["policy"], 9);
  EXPECT_GE(count["step"], 35);
  for (const auto& [path, files] : packages()) {
    auto program = cue::compile(files, packages(), {});
    ASSERT_TRUE(program.has_value()) << path << cue::describe(program.error());
    EXPECT_TRUE(cue::evaluate(*program).validate().empty()) << path << cue::describe(cue::evaluate(*program).validate());
  }
}

TEST(BuiltinTexts, say_what_they_are) {
  const std::map<std::string, std::string> types = {
      {"component", "component"}, {"trait", "trait"}, {"policy", "policy"}, {"step", "workflow-step"}};
  for (const BuiltinText& one : builtin_texts()) {
    if (!is_definition(one)) continue;
    auto program = compiled_text(std::string(one.path), cue::without_section(one.text, "template"));
    ASSERT_TRUE(program.has_value());
    const Cursor header = cue::evaluate(*program).field(name_of(one));
    EXPECT_EQ(header.field("type").as_string(), types.at(std::string(one.path.substr(0, one.path.find('/'))))) << one.path;
    EXPECT_FALSE(header.field("description").as_string().empty()) << one.path;
    EXPECT_TRUE(header.validate(cue::Demand::Concrete).empty()) << one.path << cue::describe(header.validate());
  }
}

TEST(BuiltinTexts, compile_and_tell_the_schema_of_their_parameters) {
  for (const BuiltinText& one : builtin_texts()) {
    if (!is_definition(one)) continue;
    auto program = compiled_text(std::string(one.path), cue::section(one.text, "template"));
    ASSERT_TRUE(program.has_value());
    const Value schema = cue::openapi_schema(cue::evaluate(*program).field("parameter"));
    EXPECT_TRUE(schema.has("oneOf") || schema["type"].as_string() == "object") << one.path << json::print(schema);
  }
}

TEST(BuiltinTexts, views_compile_and_say_what_is_asked) {
  int views = 0;
  for (const BuiltinText& one : builtin_texts()) {
    if (!one.path.starts_with("view/")) continue;
    ++views;
    auto program = compiled_text(std::string(one.path), std::string(one.text));
    ASSERT_TRUE(program.has_value());
    const Value schema = cue::openapi_schema(cue::evaluate(*program).field("parameter"));
    EXPECT_EQ(schema["type"].as_string(), "object") << one.path;
    EXPECT_TRUE(one.text.find("status") != std::string_view::npos) << one.path << ": clients read the field status";
  }
  EXPECT_EQ(views, 6);
}

TEST(BuiltinTexts, calls_of_packages_name_their_package) {
  for (const auto& [path, files] : packages()) {
    const std::string name = path.substr(5);
    auto program = cue::compile(files, packages(), {});
    ASSERT_TRUE(program.has_value()) << path;
    for (const cue::FieldCursor& field : cue::evaluate(*program).fields(true)) {
      const std::string function = field.value.field("#do").as_string();
      if (function.empty()) continue;
      EXPECT_EQ(field.value.field("#provider").as_string(), name == "ql" ? "op" : name) << path << " " << field.name;
    }
  }
}

/// A program that imports vela/op, with one call answered the flat way.
Cursor answered_flat(const std::string& text, const std::string& path, const char* returns) {
  auto program = compiled_text("flat.cue", "import \"vela/op\"\n" + text);
  if (!program) return {};
  return cue::fill(cue::evaluate(*program), {{path, *json::parse(returns)}});
}

TEST(BuiltinPackages, older_names_of_results_follow_from_what_is_returned) {
  Cursor http =
      answered_flat("get: op.#HTTPGet & {url: \"u\"}", "get", R"({"body":"b","statusCode":200,"header":{"A":["x"]}})");
  EXPECT_EQ(http.lookup("get.response.body").as_string(), "b");
  EXPECT_EQ(http.lookup("get.response.statusCode").as_int(), 200);
  EXPECT_EQ(http.lookup("get.response.header.A.0").as_string(), "x");
  Cursor list =
      answered_flat("all: op.#List & {resource: {apiVersion: \"v1\", kind: \"Pod\"}}", "all", R"({"values":{"items":[1]}})");
  EXPECT_EQ(list.lookup("all.list.items.0").as_int(), 1);
}

TEST(BuiltinPackages, groups_of_calls_in_older_templates_are_calls_of_the_step) {
  auto program = compiled_text("group.cue", R"(import "vela/op"
all: op.#ApplyApplication
tell: op.#Slack & {message: text: "t", slackUrl: "u"}
group: op.#Steps & {
	msg: op.#Message & {message: "m"}
}
)");
  ASSERT_TRUE(program.has_value());
  std::vector<std::string> paths;
  for (const cue::Call& one : cue::calls(cue::evaluate(*program))) paths.push_back(one.path + " " + one.function);
  EXPECT_EQ(paths, (std::vector<std::string>{"all.load load-comps-in-order", "tell.do do", "group.msg message"}));
}

}  // namespace
}  // namespace slipway::delivery::workflow

#include "cue/compile/reads.h"

#include <gtest/gtest.h>

#include "cue/cue.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

/// What a program reads of `context`.
std::string read_part(const std::string& text, const std::string& data) {
  const auto program = compile({{"x.cue", text}}, {}, {.open_names = {"context", "parameter"}, .allows_unused_imports = true});
  EXPECT_TRUE(program.has_value()) << (program ? "" : describe(program.error()));
  if (!program) return "";
  return json::print(Reads(program->data(), "context").part_of(*json::parse(data)));
}

constexpr const char* kContext = R"({"a":{"b":1,"c":{"d":[2],"e":3}},"name":"web","other":{"x":1}})";

TEST(Reads, are_what_the_text_selects) {
  EXPECT_EQ(read_part("x: 1", kContext), "{}");
  EXPECT_EQ(read_part("x: context.a.b", kContext), R"({"a":{"b":1}})");
  EXPECT_EQ(read_part("x: context.a.c", kContext), R"({"a":{"c":{"d":[2],"e":3}}})");
  EXPECT_EQ(read_part("x: context.a[\"b\"] + context.a.c.e", kContext), R"({"a":{"b":1,"c":{"e":3}}})");
  EXPECT_EQ(read_part("x: context.a.c.d[0]", kContext), R"({"a":{"c":{"d":[2]}}})");
  EXPECT_EQ(read_part(R"(x: "\(context.name)!")", kContext), R"({"name":"web"})");
  EXPECT_EQ(read_part("import \"strings\"\nx: strings.ToUpper(context.name)", kContext), R"({"name":"web"})");
  EXPECT_EQ(read_part("let n = context.name\nx: [n]", kContext), R"({"name":"web"})");
  EXPECT_EQ(read_part("x: {y: [for k, v in context.other {v}]}", kContext), R"({"other":{"x":1}})");
  EXPECT_EQ(read_part("x: *context.name | context.a.b", kContext), R"({"a":{"b":1},"name":"web"})");
}

TEST(Reads, of_what_is_only_asked_for_is_that_it_is_there) {
  EXPECT_EQ(read_part("if context.a != _|_ {x: 1}", kContext), R"({"a":{}})");
  EXPECT_EQ(read_part("if context.a.b == _|_ {x: 1}", kContext), R"({"a":{"b":1}})");
  EXPECT_EQ(read_part("if context.none != _|_ {x: 1}", kContext), "{}");
  EXPECT_EQ(read_part("if context.a.c != _|_ {x: context.a.c.e}", kContext), R"({"a":{"c":{"e":3}}})");
}

TEST(Reads, go_through_loops_over_texts) {
  EXPECT_EQ(read_part("x: {for name in [\"b\", \"none\"] if context.a[name] != _|_ {(name): context.a[name]}}", kContext),
            R"({"a":{"b":1}})");
  EXPECT_EQ(read_part("x: {for k in [\"b\", \"c\"] for l in [\"e\"] {(k): context.a[k][l]}}", kContext),
            R"({"a":{"b":1,"c":{"e":3}}})");
}

TEST(Reads, are_all_where_that_cannot_be_told) {
  for (const char* text :
       {"x: context", "x: {context}", "context: {name: string}", "context: _\n", "[string]: _", "(\"con\" + \"text\"): _",
        "_over: {[string]: _}\n_over", "x: {context: {name: \"inner\"}, y: context.name}", "n: \"a\"\nx: context[n]"}) {
    EXPECT_EQ(read_part(text, kContext), kContext) << text;
  }
}

TEST(Reads, without_what_is_not_read_an_evaluation_is_the_same) {
  for (const char* text : {"x: context.a.b + context.a.c.e", "if context.a.none == _|_ {x: context.name}",
                           "x: {for name in [\"b\", \"c\"] {(name): context.a[name]}}",
                           "_c: *0 | int\nif context.a.b != _|_ {_c: context.a.b}\nx: _c", "x: len(context.other)"}) {
    const auto program = compile({{"x.cue", text}}, {}, {.open_names = {"context"}, .is_legacy = true});
    ASSERT_TRUE(program.has_value()) << describe(program.error());
    const json::Value whole = *json::parse(kContext);
    const auto all = evaluate(*program, {{"context", whole}}).field("x").to_json_text();
    const auto part =
        evaluate(*program, {{"context", Reads(program->data(), "context").part_of(whole)}}).field("x").to_json_text();
    ASSERT_TRUE(all.has_value() && part.has_value()) << text;
    EXPECT_EQ(*all, *part) << text;
  }
}

TEST(Reads, keep_what_is_no_object) {
  EXPECT_EQ(read_part("x: context.a.b.c", kContext), R"({"a":{"b":1}})");
  EXPECT_EQ(read_part("x: context.name.c", kContext), R"({"name":"web"})");
}

}  // namespace
}  // namespace slipway::cue

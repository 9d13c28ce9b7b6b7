// Whether something is there, asked in every form templates use: an answer, and no error object for a plain reference.
#include <gtest/gtest.h>

#include <algorithm>

#include "cue/evaluation.h"

namespace slipway::cue {
namespace {

constexpr const char* kParameter =
    "parameter: {image: string, port?: int, limit?: {cpu?: string}, env!: string, \"a-b\"?: int, ports?: [...{port: int, "
    "name?: "
    "string}], labels: [string]: string}\n";

/// `expression` as the field `y`, and how many errors were built on the way.
std::pair<std::string, std::uint64_t> asked(const std::string& expression) {
  auto program = compile({{"x.cue", kParameter + expression}}, {}, {.open_names = {"context"}});
  EXPECT_TRUE(program.has_value()) << expression << (program ? "" : describe(program.error()));
  if (!program) return {};
  json::Value given = json::object({{"image", "a"}, {"labels", json::object({{"x", "1"}})}});
  json::Value context = json::object({{"output", json::object({{"spec", json::object({{"replicas", 1}})}})}});
  Cursor root = evaluate(*program, {{"parameter", given}, {"context", context}});
  std::uint64_t made = root.evaluation()->evaluator().errors_made();
  auto y = root.field("y").to_json_text();
  return {y ? *y : describe(y.error()), made};
}

void expect_without_errors(const std::string& expression, const std::string& value) {
  EXPECT_EQ(asked(expression), std::pair(value, std::uint64_t{0})) << expression;
}

TEST(Presence, of_plain_references_is_a_walk) {
  for (const char* path :
       {"parameter.port", "parameter[\"port\"]", "parameter[\"a-b\"]", "parameter.limit", "parameter.limit.cpu",
        "parameter.env", "parameter.nothing.at.all", "context.config", "context[\"config\"]", "context.output.status.replicas",
        "context.output[\"status\"].replicas", "parameter.labels.y", "parameter.labels[\"y\"]"}) {
    expect_without_errors(std::string("y: ") + path + " != _|_", "false");
    expect_without_errors(std::string("y: ") + path + " == _|_", "true");
    expect_without_errors(std::string("y: !(") + path + " != _|_)", "true");
    expect_without_errors(std::string("y: ") + path + " != _|_ && " + path + " != _|_", "false");
    expect_without_errors(std::string("y: parameter.image != _|_ && ") + path + " == _|_", "true");
    expect_without_errors(std::string("y: {if ") + path + " != _|_ {a: 1}}", "{}");
    expect_without_errors(std::string("y: {if ") + path + " != _|_ if parameter.image != _|_ {a: " + path + "}}", "{}");
    expect_without_errors(std::string("y: [if ") + path + " != _|_ {1}, if " + path + " == _|_ {2}]", "[2]");
    expect_without_errors(std::string("y: [if ") + path + " != _|_ for x in " + path + " {x}]", "[]");
    expect_without_errors(std::string("y: [for i in [1, 2] if ") + path + " == _|_ && i > 1 {i}]", "[2]");
  }
  for (const char* path : {"parameter.image", "parameter[\"image\"]", "parameter.labels.x", "context.output.spec.replicas"}) {
    expect_without_errors(std::string("y: ") + path + " != _|_", "true");
    expect_without_errors(std::string("y: {if ") + path + " != _|_ {a: 1}}", "{\"a\":1}");
  }
}

TEST(Presence, of_fields_of_items_and_of_computed_names_is_a_walk) {
  expect_without_errors("y: [for v in [{a: 1}, {b: 2}] if v.a != _|_ {v.a}]", "[1]");
  expect_without_errors("y: [for v in [{a: {c: 1}}, {b: 2}] if v.a.c == _|_ {v.b}]", "[2]");
  expect_without_errors("m: {k: 1}\ny: [for k in [\"k\", \"l\"] if m[k] != _|_ {k}]", "[\"k\"]");
  expect_without_errors("l: [1]\ny: [l[0] != _|_, l[1] != _|_]", "[true,false]");
}

TEST(Presence, of_what_is_wrong_is_absence) {
  EXPECT_EQ(asked("x: 1 & 2\ny: x == _|_").first, "true");
  EXPECT_EQ(asked("x: {a: 1 & 2}\ny: x != _|_").first, "false");
  EXPECT_EQ(asked("x: int\ny: x != _|_").first, "false");
  EXPECT_EQ(asked("x: [...int]\ny: x != _|_").first, "true");
  EXPECT_EQ(asked("x: {}\ny: x != _|_").first, "true");
  EXPECT_EQ(asked("x: *1 | int\ny: x != _|_").first, "true");
  EXPECT_EQ(asked("y: (1 & 2) == _|_").first, "true");
  EXPECT_EQ(asked("let p = parameter.limit\ny: p.cpu != _|_").first, "false");
}

// It has no value yet, but what is written out of it is there: to leave it out without a word would be worse.
TEST(Presence, of_a_struct_with_an_undecided_guard_is_that_of_its_fields) {
  const std::string profile = "#P: {type: \"a\" | \"b\", name?: string, if type == \"b\" {name: string}}\n";
  EXPECT_EQ(asked(profile + "x: #P & {name: \"n\"}\ny: x != _|_").first, "true");
  EXPECT_EQ(asked("y: x != _|_\n" + profile + "x: #P & {name: \"n\"}").first, "true");
  EXPECT_EQ(asked("x: {if p.q > 1 {z: 1}}\np: q: int\ny: x != _|_").first, "false");
  EXPECT_EQ(asked("y: x != _|_\nx: {if p.q > 1 {z: 1}}\np: q: int").first, "false");
}

// Each asks for what waits for the next; what is written out settles it, whichever of them is come to first.
TEST(Presence, of_what_is_written_is_known_though_guards_that_wait_may_say_it_again) {
  std::vector<std::string> lines = {
      R"cue(sum: "\(parts.user)@\(parts.host)")cue", R"cue(given: {user: "ann", host: "h"})cue",
      R"cue(parts: {if given.user != _|_ {user: given.user}, if given.user == _|_ {user: ""}, host: given.host})cue",
      R"cue(given: {if read.user != _|_ {user: read.user}, host: read.host})cue",
      R"cue(read: regexp.FindNamedSubmatch("^(?P<user>[a-z]+)@(?P<host>[a-z]+)$", sum))cue"};
  std::sort(lines.begin(), lines.end());
  do {
    std::string text = "import \"regexp\"\n";
    for (const std::string& line : lines) text += line + "\n";
    auto program = compile({{"x.cue", text}});
    ASSERT_TRUE(program.has_value());
    const Cursor root = evaluate(*program);
    ASSERT_EQ(root.field("sum").as_string(), "ann@h") << text << describe(root.validate());
    ASSERT_TRUE(root.validate(Demand::Concrete).empty()) << text;
  } while (std::next_permutation(lines.begin(), lines.end()));
}

}  // namespace
}  // namespace slipway::cue

#include "cue/schema.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::cue {
namespace {

std::string schema(const std::string& text) {
  auto program = compile({{"x.cue", text}}, {});
  if (!program) return describe(program.error());
  return json::print(openapi_schema(evaluate(*program).field("parameter")));
}

TEST(Schema, tells_types_defaults_and_what_is_required) {
  EXPECT_EQ(
      schema("parameter: {\n\t// +usage=Which image\n\t// +short=i\n\timage: string\n\treplicas: *1 | int\n\tdebug?: bool\n}"),
      R"({"type":"object","properties":{"image":{"type":"string","description":"Which image"},)"
      R"("replicas":{"type":"integer","default":1},"debug":{"type":"boolean"}},"required":["image","replicas"]})");
}

TEST(Schema, of_constants_is_an_enum) {
  EXPECT_EQ(schema("parameter: *\"A\" | \"B\""), R"({"type":"string","enum":["A","B"],"default":"A"})");
  EXPECT_EQ(schema("parameter: *null | [...string]"),
            R"({"type":"array","items":{"type":"string"},"nullable":true,"default":null})");
}

TEST(Schema, of_bounds_and_patterns) {
  EXPECT_EQ(schema("parameter: int & >=1 & <=100"), R"({"type":"integer","minimum":1,"maximum":100})");
  EXPECT_EQ(schema("parameter: =~\"^a\""), R"({"type":"string","pattern":"^a"})");
}

TEST(Schema, of_lists_and_maps_says_what_is_in_them) {
  EXPECT_EQ(schema("parameter: [...{a?: int}]"),
            R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}})");
  EXPECT_EQ(schema("parameter: [string]: string | null"),
            R"({"type":"object","additionalProperties":{"type":"string","nullable":true}})");
}

TEST(Schema, of_one_of_two_shapes) {
  EXPECT_EQ(schema("#A: {a: int}\nparameter: #A | close({b: string})"),
            R"({"oneOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},)"
            R"({"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]})");
}

// Of several schemas exactly one must hold, and a default holds for another one already.
TEST(Schema, of_a_default_among_others_is_only_a_default) {
  EXPECT_EQ(schema("parameter: *[\"a\"] | [...string]"), R"({"type":"array","items":{"type":"string"},"default":["a"]})");
  EXPECT_EQ(schema("parameter: *\"2Gi\" | =~\"^[0-9]+Gi$\""), R"({"type":"string","pattern":"^[0-9]+Gi$","default":"2Gi"})");
  EXPECT_EQ(schema("parameter: *{a: 1} | {a: int, b?: string}"),
            R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},)"
            R"("required":["a"],"default":{"a":1}})");
  EXPECT_EQ(schema("parameter: *[1] | [...string]"),
            R"({"oneOf":[{"type":"array","items":{"type":"integer","enum":[1]},"minItems":1,"maxItems":1},)"
            R"({"type":"array","items":{"type":"string"}}],"default":[1]})");
}

TEST(Schema, of_a_definition_that_contains_itself_ends) { EXPECT_NE(schema("#T: {sub?: #T}\nparameter: #T"), ""); }

}  // namespace
}  // namespace slipway::cue

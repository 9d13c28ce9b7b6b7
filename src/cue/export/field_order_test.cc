#include <gtest/gtest.h>

#include "cue/evaluation.h"
#include "cue/export/field_order.h"
#include "json/text.h"

namespace slipway::cue {
namespace {

/// Names of the fields at a path in order.
std::string order_at(const std::string& text, const char* path) {
  auto program = compile({{"in.cue", text}});
  if (!program) return describe(program.error());
  Cursor root = evaluate(*program);
  order_fields(root.evaluation()->evaluator(), root.vertex());
  std::string out;
  for (const FieldCursor& one : root.lookup(path).fields()) out += (out.empty() ? "" : " ") + one.name;
  return out;
}

std::string order_of(const std::string& m) { return order_at("m: " + m + "\n_A: {a: 1, aa: 1}\n_X: {x: 1, w: 1}\n", "m"); }

TEST(FieldOrder, own_fields_stand_where_the_last_of_them_does) {
  EXPECT_EQ(order_of("{b: 1, if true {z: 1}, c: 1}"), "z b c");
  EXPECT_EQ(order_of("{z: 1, if true {b: 1}}"), "z b");
  EXPECT_EQ(order_of("{a: 1, if true {z: 1}, c: 1, if true {y: 1}}"), "z a c y");
  EXPECT_EQ(order_of("{b: 1, for k in [\"z\"] {(k): 1}, c: 1}"), "z b c");
  EXPECT_EQ(order_of("{b: 1, {z: 1}, c: 1}"), "z b c");
}

TEST(FieldOrder, a_guard_that_does_not_hold_says_nothing) {
  EXPECT_EQ(order_of("{x: 1, y: 2, if false {z: 1}, a: 3}\nm: z: 2"), "x y a z");
  EXPECT_EQ(order_of("{x: 1, if x > 1 {if x > 2 {z: 2}}, a: 3}\nm: z: 2"), "x a z");
  EXPECT_EQ(order_of("{x: 1, y: 2, if true {z: 2}, a: 3}\nm: z: 2"), "z x y a");
}

TEST(FieldOrder, a_reference_beside_own_fields_goes_by_name) {
  EXPECT_EQ(order_of("{b: 1, _X, c: 1}"), "b c x w");
  EXPECT_EQ(order_of("{b: 1, _A}"), "a aa b");
  EXPECT_EQ(order_of("{_X, _A}"), "x w a aa");
  EXPECT_EQ(order_of("{b: 1, _A, _X}"), "a aa b x w");
}

TEST(FieldOrder, the_body_of_a_comprehension_goes_by_its_source) {
  EXPECT_EQ(order_of("{b: 1, if true {z: 1, _A}, c: 1}"), "z a aa b c");
  EXPECT_EQ(order_of("{if true {b: 1}, _A}"), "b a aa");
}

TEST(FieldOrder, what_is_referred_to_stands_where_the_reference_does) {
  const char* q = "#P: {q: {z: 1, n?: int, ...}, ...}\n";
  EXPECT_EQ(order_at(std::string(q) + "p: q: {n: 1, y: 2}\np: #P", "p.q"), "n y z");
  EXPECT_EQ(order_at(std::string("p: #P\np: q: {n: 1, y: 2}\n") + q, "p.q"), "z n y");
  EXPECT_EQ(order_at(std::string(q) + "p: {q: {n: 1, y: 2}, #P}", "p.q"), "n y z");
  EXPECT_EQ(order_at(std::string(q) + "#Q: {#P, q: {m: 1}}\np: {q: {n: 1, y: 2}, #Q}", "p.q"), "n y z m");
}

// As if the parameter were appended to the text: what the template declares comes first, then what else there is.
TEST(FieldOrder, fields_of_a_hole_stand_behind_those_of_the_template) {
  auto marshalled = [](const char* template_text, const char* data) {
    auto program = compile({{"in.cue", std::string("import \"encoding/json\"\nx: json.Marshal(parameter)\n") + template_text}},
                           {}, {.open_names = {"parameter"}});
    if (!program) return describe(program.error());
    return evaluate(*program, {{"parameter", *json::parse(data)}}).field("x").as_string();
  };
  EXPECT_EQ(marshalled("parameter: {b: string, a: string}", R"({"a":"1","b":"2"})"), R"({"b":"2","a":"1"})");
  EXPECT_EQ(marshalled("parameter: {b: string, a: string, ...}", R"({"c":"0","a":"1","b":"2"})"),
            R"({"b":"2","a":"1","c":"0"})");
  EXPECT_EQ(marshalled("parameter: {z: {y: int, b: int}, a?: int}", R"({"a":1,"z":{"b":1,"y":2}})"),
            R"({"z":{"y":2,"b":1},"a":1})");
  EXPECT_EQ(marshalled("", R"({"b":"1","a":"2"})"), R"({"b":"1","a":"2"})");
}

}  // namespace
}  // namespace slipway::cue

#include "delivery/gate/expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::gate {
namespace {

/// The value as JSON, or "error: …".
std::string run(std::string_view text, std::string_view result) {
  const auto compiled = Expression::compile(text);
  if (!compiled) return "error: " + compiled.error();
  const auto value = compiled->evaluate(json::parse(result).value());
  return value ? json::print(*value) : "error: " + value.error();
}

struct ExpressionRow {
  const char* text;
  const char* result;
  const char* gives;
};

TEST(GateExpression, operators_bind_as_in_expr_lang) {
  const ExpressionRow kRows[] = {
      {"1 + 2 * 3", "null", "7"},
      {"(1 + 2) * 3", "null", "9"},
      {"2 ** 3 ** 2", "null", "512"},
      {"-2 ^ 2", "null", "-4"},
      {"10 - 4 - 3", "null", "3"},
      {"7 / 2", "null", "3.5"},
      {"7 % 4", "null", "3"},
      {"not false && false", "null", "false"},
      {"!(1 > 2) or 1 / 0 > 0", "null", "true"},
      {"1 < 2 == true", "null", "true"},
      {"result ?? 5", "null", "5"},
      {"result.a ?? 5", "{}", "5"},
      {"true ? 1 : false ? 2 : 3", "null", "1"},
      {"false ? 1 : false ? 2 : 3", "null", "3"},
      {"1 in 1..3", "null", "true"},
      {"4 not in [1, 2]", "null", "true"},
      {"'a' in {a: 1}", "null", "true"},
      {"'abc' contains 'b' and 'abc' startsWith 'a' and 'abc' endsWith 'c' and 'abc' matches '^a.c$'", "null", "true"},
      {"'a' + \"b\" + `\\n`", "null", R"("ab\\n")"},
      {"'it\\'s'", "null", R"("it's")"},
      {"1_000 + 0.5e1", "null", "1005"},
  };
  for (const ExpressionRow& row : kRows) EXPECT_EQ(run(row.text, row.result), row.gives) << row.text;
}

TEST(GateExpression, members_items_and_slices) {
  const ExpressionRow kRows[] = {
      {"result.a.b", R"({"a":{"b":[1,2]}})", "[1,2]"},
      {"result['a']", R"({"a":1})", "1"},
      {"result.x", R"({"a":1})", "null"},
      {"result?.x?.y", R"({"a":1})", "null"},
      {"result.x.y", R"({"a":1})", "error: cannot fetch y from nil"},
      {"result.a", "[]", "error: cannot fetch a from []interface {}"},
      {"result[-1]", "[1,2,3]", "3"},
      {"result[3]", "[1,2,3]", "error: index out of range: 3 (array length is 3)"},
      {"result[1:]", "[1,2,3]", "[2,3]"},
      {"result[:-1]", "[1,2,3]", "[1,2]"},
      {"result[0]", "0.5", "0.5"},
      {"result[1]", "0.5", "error: cannot fetch 1 from float64"},
  };
  for (const ExpressionRow& row : kRows) EXPECT_EQ(run(row.text, row.result), row.gives) << row.text;
}

TEST(GateExpression, functions) {
  const ExpressionRow kRows[] = {
      {"asInt('12') + asInt(1.9)", "null", "13"},
      {"asInt('1.5')", "null", "error: strconv.ParseInt: parsing \"1.5\": invalid syntax"},
      {"asInt('9223372036854775808')", "null", "error: strconv.ParseInt: parsing \"9223372036854775808\": value out of range"},
      {"asFloat('many')", "null", "error: strconv.ParseFloat: parsing \"many\": invalid syntax"},
      {"asFloat(result)", "[]", "error: asFloat() not supported on []interface {} []"},
      {"asFloat('1e3')", "null", "1000"},
      {"isNaN(asFloat('NaN')) && isInf(asFloat('inf'))", "null", "true"},
      {"isNil(result.x)", "{}", "true"},
      {"default(result, 7)", "null", "7"},
      {"len(result) + len('ab')", "[1,2,3]", "5"},
      {"all(result, # > 0) && any(result, {# == 2}) && none(result, # > 5) && one(result, # == 3)", "[1,2,3]", "true"},
      {"filter(result, .v > 1)", R"([{"v":1},{"v":2}])", R"([{"v":2}])"},
      {"map(result, #.v * 2)", R"([{"v":1},{"v":2}])", "[2,4]"},
      {"count(result, # > 1)", "[1,2,3]", "2"},
      {"sum(result) / len(result)", "[1,2,3]", "2"},
      {"sum(result, .v)", R"([{"v":1},{"v":2}])", "3"},
      {"max(result) - min(4, 5)", "[1,2,9]", "5"},
      {"result | filter(# > 1) | len()", "[1,2,3]", "2"},
      {"find(result, # > 1) + findIndex(result, # > 1)", "[1,2,3]", "3"},
      {"all(result, all(#, # > 0))", "[[1],[2,3]]", "true"},
      {"mean(result) == 2 && median(result) == 2", "[1,2,3]", "true"},
      {"round(1.5) + floor(1.5) + ceil(1.5) + abs(-1)", "null", "6"},
      {"upper(trim(' a ')) + lower('B')", "null", R"("Ab")"},
  };
  for (const ExpressionRow& row : kRows) EXPECT_EQ(run(row.text, row.result), row.gives) << row.text;
}

TEST(GateExpression, faults_are_texts_with_their_place) {
  const ExpressionRow kRows[] = {
      {"", "1", "error: the condition ends too early (1:1)"},
      {"result >", "1", "error: the condition ends too early (1:9)"},
      {"result > 1)", "1", "error: unexpected \")\" (1:11)"},
      {"(result > 1", "1", "error: expected \")\", but the condition ends (1:12)"},
      {"foo > 1", "1", "error: unknown name foo (1:1)"},
      {"1 + foo(2)", "1", "error: unknown name foo (1:5)"},
      {"default(result)", "1", "error: not enough arguments to call default (1:16)"},
      {"# > 1", "1", "error: # stands outside of a predicate (1:1)"},
      {"result @ 1", "1", "error: unexpected character '@' (1:8)"},
      {"'abc", "1", "error: literal not terminated (1:1)"},
      {"result.Name()", "1", "error: there is no method Name (1:12)"},
      {"result && true", "1", "error: invalid operation: && (expected bool, but got int)"},
      {"result > 'a'", "1", "error: invalid operation: > (mismatched types int and string)"},
      {"result == 'a'", "1", "error: invalid operation: == (mismatched types int and string)"},
      {"result.a == 'a'", R"({"a":1})", "false"},
      {"9223372036854775807 + 1", "1", "error: integer overflow"},
      {"1 % 0", "1", "error: integer divide by zero"},
      {"'a' matches '('", "1", "error: bad regular expression: missing ): ("},
      {"1..100000", "1", "error: range is too long"},
      {"all(1..9999, all(1..9999, # > 0))", "1", "error: the condition takes too long"},
  };
  for (const ExpressionRow& row : kRows) EXPECT_EQ(run(row.text, row.result), row.gives) << row.text;
  EXPECT_TRUE(run(std::string(500, '('), "1").starts_with("error: nested too deeply"));
  EXPECT_TRUE(run(std::string(5000, '1'), "1").starts_with("error: a condition has at most 4096 bytes"));
}

}  // namespace
}  // namespace slipway::delivery::gate

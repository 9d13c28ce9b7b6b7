// The condition language of Argo's analysis: expr-lang with the functions asInt, asFloat, isNaN, isInf, isNil and default over
// one variable, `result` (argo-rollouts utils/evaluate):
//   result[0] >= 0.95 && all(result, {# < 5})    default(result, 0) < 0.05    asFloat(result.code) == 200 ? true : false
// Compiled once, then evaluated over JSON values; errors are text. Faults of names and arguments are found by compile(), faults
// of types when they are met.
// DIVERGES: [0] of a number is the number, so that conditions over Argo's vectors hold where a provider gives its only number.
#pragma once

#include <expected>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "json/value.h"

namespace slipway::delivery::gate {

namespace expr {
struct Node;
}

class Expression {
 public:
  static constexpr std::size_t kMostBytes = 4096;

  /// The error names the place: "unknown name foo (1:5)".
  static std::expected<Expression, std::string> compile(std::string_view text);

  std::expected<json::Value, std::string> evaluate(const json::Value& result) const;
  /// "expected bool, but got int" for other values.
  std::expected<bool, std::string> test(const json::Value& result) const;
  /// Whether the function is called somewhere.
  bool calls(std::string_view function) const { return functions_.contains(function); }

 private:
  std::shared_ptr<const expr::Node> root_;
  std::set<std::string, std::less<>> functions_;
};

}  // namespace slipway::delivery::gate

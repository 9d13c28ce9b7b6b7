// JSONPath templates as kubectl -o jsonpath and the printer columns of CRDs have them (k8s.io/client-go/util/jsonpath):
//   {.items[*].metadata.name}   {range .items[?(@.status.phase=="Running")]}{.metadata.name}{"\n"}{end}   {..name}   {[0:4:2]}
// A path is compiled once and may be evaluated often, from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::json {

class Path {
 public:
  enum class Missing : std::uint8_t { Error, Empty };

  /// A template: text with expressions in braces. BadRequest "jsonpath: …".
  static Result<Path> compile(std::string_view text);
  /// One expression without braces, as `jsonPath` of a printer column or --sort-by: ".spec.replicas". "{.spec.replicas}" and
  /// "spec.replicas" are taken too.
  static Result<Path> compile_expression(std::string_view text);

  /// The results of each expression and text, in order. A key that no input has is an error or gives nothing; indexes out of
  /// bounds, comparisons of unlike types and the like are errors (Invalid). More than kMostResults are refused.
  Result<std::vector<std::vector<Value>>> evaluate(const Value& document, Missing missing) const;
  /// The text: results of one expression are joined by blanks; objects and arrays are written as JSON.
  Result<std::string> print(const Value& document, Missing missing) const;
  /// The first result of the first expression, if there is one and no error: what a printer column shows.
  std::optional<Value> first(const Value& document) const;

  static constexpr std::size_t kMostResults = 1'000'000;
  static constexpr std::size_t kMostBytes = 64 << 10;  // of the template

  struct Block;  // of the compiled template

 private:
  std::shared_ptr<const std::vector<Block>> blocks_;
};

}  // namespace slipway::json

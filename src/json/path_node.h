// The compiled form of a JSONPath template, between its compiler and its evaluator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/path.h"

namespace slipway::json {

struct PathStep;
using PathSteps = std::vector<PathStep>;

/// One step of an expression: takes a list of values and gives another.
struct PathStep {
  enum class Kind : std::uint8_t { Literal, Field, Slice, Filter, Wildcard, Recursive, Union, Unknown };
  Kind kind = Kind::Field;
  std::string name;  // of a field, an unknown identifier, or the operator of a filter ("" tests existence)
  Value literal;
  std::optional<std::int64_t> from, to, step;
  bool single = false;              // [n] rather than [n:m]
  std::vector<PathSteps> branches;  // of a union; left and right side of a filter
};

/// Text, an expression, or a range with its body.
struct Path::Block {
  enum class Kind : std::uint8_t { Text, Expression, Range };
  Kind kind = Kind::Text;
  std::string text;
  PathSteps steps;
  std::vector<Block> body;
};

/// A template without its ranges put together: "range" and "end" are still expressions that begin with such an Unknown step.
Result<std::vector<Path::Block>> parse_path(std::string_view text);

}  // namespace slipway::json

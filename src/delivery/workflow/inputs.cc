#include "delivery/workflow/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/workflow/evaluation.h"
#include "delivery/workflow/variable_path.h"

namespace slipway::delivery::workflow {
namespace {

/// Of a variable, or of a path into `context` or `parameter`.
std::optional<Value> named_value(const StepInput& input, const InputScope& scope) {
  if (const Value* variable = look_up(scope.variables, input.from)) return *variable;
  const Value names = json::object({{"context", scope.context}, {"parameter", scope.parameter}});
  if (const Value* found = look_up(names, input.from)) return *found;
  return std::nullopt;
}

bool is_expression(const StepInput& input) { return !parse_path(input.from); }

/// Each expression gets its part of the steps; the deadline holds for all.
cue::Limits divided(cue::Limits limits, const std::vector<StepInput>& inputs) {
  const auto expressions = static_cast<std::uint64_t>(std::ranges::count_if(inputs, is_expression));
  limits.max_steps /= std::max<std::uint64_t>(expressions, 1);
  return limits;
}

std::optional<Value> value_of(const StepInput& input, const InputScope& scope, const cue::Limits& limits) {
  if (auto named = named_value(input, scope)) return named;
  if (!is_expression(input)) return std::nullopt;
  return evaluate_expression(input.from, {{"context", scope.context}, {"parameter", scope.parameter}}, limits);
}

}  // namespace

bool has_value(const StepInput& input, const InputScope& scope) { return is_expression(input) || named_value(input, scope); }

Value values_of(const std::vector<StepInput>& inputs, const InputScope& scope, const cue::Limits& limits) {
  const cue::Limits each = divided(limits, inputs);
  json::ObjectBuilder values;
  for (const StepInput& input : inputs) {
    if (auto value = value_of(input, scope, each)) values.set(input.from, std::move(*value));
  }
  return values.build();
}

Result<Value> with_inputs(const std::vector<StepInput>& inputs, const InputScope& scope, const cue::Limits& limits) {
  const cue::Limits each = divided(limits, inputs);
  Value parameter = scope.parameter.is_null() ? Value::empty_object() : scope.parameter;
  for (const StepInput& input : inputs) {
    const auto value = value_of(input, scope, each);
    if (!value) {
      const char* why = is_expression(input) ? "the expression has no value" : "there is no such variable";
      return fail(Reason::NotFound, fmt::format("get input from [{}]: {}", input.from, why));
    }
    if (input.parameter_key.empty()) continue;
    SLIPWAY_TRY(filled, put(parameter, input.parameter_key, *value, false));
    parameter = std::move(filled);
  }
  return parameter;
}

}  // namespace slipway::delivery::workflow

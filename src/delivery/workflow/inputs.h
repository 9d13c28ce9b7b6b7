// The inputs of a step: what they are read from, and the parameter that they make. Expressions among them share one budget, so
// that a hundred inputs cost what one may. Pure, and heavy: for the compute pool, but for has_value().
#pragma once

#include <optional>
#include <vector>

#include "cue/cue.h"
#include "delivery/workflow/step.h"

namespace slipway::delivery::workflow {

struct InputScope {
  Value variables;
  Value context;
  Value parameter;
};

/// Whether the input waits for nothing: its variable or path is there. An expression, which reads only `context` and
/// `parameter`, waits for nothing; without a value it fails its step.
bool has_value(const StepInput& input, const InputScope& scope);

/// An object with what each input comes to, by `from`; without those that have no value.
Value values_of(const std::vector<StepInput>& inputs, const InputScope& scope, const cue::Limits& limits);

/// The parameter with each input at its `parameterKey`. NotFound for an input without a value; else as put().
Result<Value> with_inputs(const std::vector<StepInput>& inputs, const InputScope& scope, const cue::Limits& limits);

}  // namespace slipway::delivery::workflow

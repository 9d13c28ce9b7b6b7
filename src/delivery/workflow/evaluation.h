// The pure part of a step: its template with the data it has and the answers that providers have given so far, evaluated from
// scratch. Says which call comes next, or what the step has come to. Runs in the compute pool; no value of an evaluation leaves
// it.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cue/cue.h"
#include "delivery/workflow/provider.h"
#include "delivery/workflow/step.h"
#include "delivery/workflow/template.h"

namespace slipway::delivery::workflow {

/// What a provider answered to the call at a path.
struct Answered {
  std::string path;
  bool is_flat = false;
  Value params;
  Value returns;  // null: nothing is filled in
};

struct Evaluation {
  TemplatePtr program;
  Value parameter;
  Value context;
  std::vector<Answered> answers;
  std::vector<StepOutput> outputs;
  const Providers* providers = nullptr;
  cue::Limits limits;
  /// The step ends here, whatever calls are left: no next call is looked for.
  bool is_last = false;
};

/// A call that has not been answered.
struct NextCall {
  std::string path;
  bool is_flat = false;
  const Provider* provider = nullptr;
  Value params;
};

struct Evaluated {
  std::string error;  // empty: none
  std::optional<NextCall> call;
  bool has_calls = false;
  // Of a step without a next call: what of its value is concrete, and its outputs (null when they have no value).
  Value value;
  std::vector<std::pair<std::string, Value>> outputs;
  std::string output_error;
};
Evaluated evaluate(const Evaluation& evaluation);

/// `base` with the `patch` of the call at `path` applied, by the comments in the template.
Result<Value> patched(const Evaluation& evaluation, const std::string& path, const Value& base);

/// What is wrong with the text of an expression, whatever its names stand for; empty: nothing.
std::string syntax_fault(const std::string& expression);
/// A boolean expression over `names`. The error is a text for people.
std::expected<bool, std::string> evaluate_condition(const std::string& expression, const std::map<std::string, Value>& names,
                                                    const cue::Limits& limits);
/// Any expression over `names`; nullopt when it has no concrete value.
std::optional<Value> evaluate_expression(const std::string& expression, const std::map<std::string, Value>& names,
                                         const cue::Limits& limits);

}  // namespace slipway::delivery::workflow

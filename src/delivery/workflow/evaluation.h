// The pure part of a step: its template with the data it has and the answers that providers have given so far, evaluated from
// scratch. Says which call comes next, or what the step has come to. Runs in the compute pool; no value of an evaluation leaves
// it.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

/// The text of a program whose one field is the expression; `import` lines at the head stay there.
std::string program_of(std::string_view expression);
/// What is wrong with an expression whatever its names stand for: its text, or a name that is none of `names`. Empty: nothing.
std::string expression_fault(const std::string& expression, const std::vector<std::string>& names);
/// Any expression over `names`. The error is a text for people.
std::expected<Value, std::string> run_expression(const std::string& expression, const std::map<std::string, Value>& names,
                                                 const cue::Limits& limits);
/// Any expression over `names`; nullopt when it has no concrete value.
std::optional<Value> evaluate_expression(const std::string& expression, const std::map<std::string, Value>& names,
                                         const cue::Limits& limits);

}  // namespace slipway::delivery::workflow

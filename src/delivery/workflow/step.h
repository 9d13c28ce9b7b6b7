// The steps of a workflow as users write them (core.oam.dev: Application spec.workflow, Workflow, WorkflowRun), decoded once.
// Free-form parts stay JSON values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "json/value.h"

namespace slipway::delivery::workflow {

using json::Value;

/// How a list of steps runs: one after another, or each as soon as what it depends on allows.
enum class Mode : std::uint8_t { StepByStep, DAG };
std::string_view to_string(Mode mode);

/// Inputs of one step, and outputs of one step.
inline constexpr std::size_t kMaxStepVariables = 100;

/// `from` is a variable, a path into one, or an expression on `context` and `parameter`; `parameter_key` a path into
/// `parameter`. An empty parameter_key only waits for the variable.
struct StepInput {
  std::string from;
  std::string parameter_key;
};

/// `value_from` is a CUE expression over the step's evaluated value; the variable is called `name`.
struct StepOutput {
  std::string name;
  std::string value_from;
};

/// Pauses between retries of a step: own extension `retry`.
struct StepRetry {
  std::int64_t limit = 0;
  Duration duration = std::chrono::seconds{1};
  double factor = 2;
  Duration cap = std::chrono::seconds{60};
};

/// The type of steps that hold others.
inline constexpr const char* kStepGroup = "step-group";

struct Step {
  std::string name;
  std::string type;
  std::string alias;
  std::string condition;  // `if`; empty: what it depends on must have succeeded
  std::string timeout;    // as Go writes durations; empty: none
  std::vector<std::string> depends_on;
  std::vector<StepInput> inputs;
  std::vector<StepOutput> outputs;
  Value properties;            // null when absent
  bool is_pre_render = false;  // `stage: pre-render`
  std::optional<Mode> mode;    // of a group's sub-steps
  std::optional<StepRetry> retry;
  std::vector<Step> sub_steps;  // only for type step-group
};

struct Steps {
  Mode mode = Mode::StepByStep;
  Mode sub_mode = Mode::DAG;
  std::vector<Step> steps;

  /// Of steps and sub-steps, in their order.
  std::vector<std::string> names() const;
  /// A step or sub-step by name; null when there is none.
  const Step* find(std::string_view name) const;
  /// The step that a `dependsOn` means: that of the name, else the first whose properties name it as `name` or `component`.
  const Step* depended_on(std::string_view name) const;
};

/// `steps` is the list under spec.workflow.steps (spec.workflowSpec.steps of a run), `mode` the struct {steps, subSteps} beside
/// it or null. Steps without a name are called step-<i>, sub-steps step-<i>-<j>. Errors: Invalid with one cause per fault,
/// below `path`: unknown fields, names used twice, durations that do not parse, dependencies and modes that do not exist.
Result<Steps> read_steps(const Value& steps, const Value& mode, const std::string& path);

}  // namespace slipway::delivery::workflow

// An Application's spec, decoded once. Free-form parts stay JSON values; unknown fields are kept by the server and ignored
// here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "delivery/workflow/step.h"
#include "json/value.h"

namespace slipway::delivery::application {

using json::Value;

struct TraitSpec {
  std::string type;
  Value properties;
};

struct ComponentSpec {
  std::string name;
  std::string type;  // NAME or NAME@REVISION
  Value properties;
  std::vector<TraitSpec> traits;
  std::vector<std::string> depends_on;
  std::vector<workflow::StepInput> inputs;
  std::vector<workflow::StepOutput> outputs;
  std::string external_revision;
  std::string replica_key;  // of the replication policy; never in the wire form
  bool is_secret = false;   // it holds what was read from a Secret; never in the wire form

  Value to_json() const;
};

struct PolicySpec {
  std::string name;
  std::string type;
  Value properties;
};

struct ApplicationSpec {
  std::vector<ComponentSpec> components;
  std::vector<PolicySpec> policies;
  bool has_workflow = false;  // spec.workflow is there
  std::string workflow_ref;   // name of a Workflow in the application's namespace
  Value workflow_steps;       // spec.workflow.steps
  Value workflow_mode;        // spec.workflow.mode
  Value rollout_plan;         // spec.rolloutPlan; null: what is new is applied at once

  const ComponentSpec* find(std::string_view component) const;
};

Result<ComponentSpec> read_component(const Value& component, const std::string& path);
/// Policies without a name are called `<type>-auto-gen-<index>`. Errors: Invalid with one cause per fault of form.
Result<ApplicationSpec> read_application(const Value& spec);
/// A spec may not be larger: revision, rendered resources and trackers must hold what it says.
inline constexpr std::size_t kMaxSpecBytes = std::size_t{1} << 20;
/// Names the component whose properties alone are too large, else the spec.
std::optional<Cause> check_size(const Value& spec);
inline constexpr std::size_t kMaxComponents = 500;
inline constexpr std::size_t kMaxTraits = 100;  // of one component
inline constexpr std::size_t kMaxPolicies = 500;
inline constexpr std::size_t kMaxSteps = 10'000;  // with those in groups
/// Lists that are longer than they may be. What a stored spec has already may stay, and shrink.
std::vector<Cause> check_counts(const Value& spec, const Value& old_spec);
/// What admission refuses beside faults of form: names used twice, policies without properties, a workflow of two kinds. The
/// controller works without these checks, as upstream's does.
std::vector<Cause> check_application(const ApplicationSpec& spec);

}  // namespace slipway::delivery::application

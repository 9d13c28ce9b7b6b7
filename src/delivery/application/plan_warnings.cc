// Where an Application's spec.rolloutPlan has no effect: only the steps that are generated per component roll out by it.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/admission.h"
#include "delivery/application/policy.h"

namespace slipway::delivery::application {
namespace {

/// "policy t (topology)": what in the spec makes the workflow deliver in other steps.
std::string deliverer_of(const ApplicationSpec& spec) {
  for (const std::string_view type : {"topology", "override", "env-binding", "envbinding"}) {
    const auto policy = std::ranges::find(spec.policies, type, &PolicySpec::type);
    if (policy != spec.policies.end()) return fmt::format("policy {} ({})", policy->name, type);
  }
  return "a component of type ref-objects";
}

/// Whether a workflow of the user's delivers; steps that only render are followed by generated ones.
bool delivers_by_own_steps(const ApplicationSpec& spec) {
  if (!spec.has_workflow || !spec.workflow_ref.empty()) return spec.has_workflow;
  const auto steps = workflow::read_steps(spec.workflow_steps, spec.workflow_mode, "spec.workflow.steps");
  return !steps || steps->steps.empty() || !std::ranges::all_of(steps->steps, &workflow::Step::is_pre_render);
}

}  // namespace

std::vector<std::string> plan_warnings(const kube::Object& application, const kube::Object& old, const Lookup&) {
  if (kube::is_deleting(application) || (!old.is_null() && application["spec"] == old["spec"])) return {};
  const auto spec = read_application(application["spec"]);
  if (!spec || spec->rollout_plan.is_null()) return {};
  if (delivers_by_own_steps(*spec)) {
    return {
        "spec.rolloutPlan: has no effect, because spec.workflow says how components are delivered: give the plan to a step of "
        "type app-rollout (properties component and plan), or remove spec.workflow"};
  }
  const Value steps = generated_steps(*spec);
  const bool rolls_out =
      std::ranges::any_of(steps.items(), [](const Value& step) { return step["type"].as_string() == "app-rollout"; });
  if (rolls_out || steps.empty()) return {};
  return {
      fmt::format("spec.rolloutPlan: has no effect, because {} delivers the components, all pods at once: a plan holds in the "
                  "Application's own cluster and namespace only; remove one of the two",
                  deliverer_of(*spec))};
}

}  // namespace slipway::delivery::application

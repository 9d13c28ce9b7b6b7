// Steps of stage pre-render: they run before all others, whatever the order in the list, and what they change is read again
// before the others begin. They may change the run's own object (an Application's spec, before it is rendered) and no other.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/workflow/pass.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

/// Functions that change objects, and the parameter that names them; without one they never change the owner only.
struct Change {
  std::string_view package;
  std::string_view function;
  const char* object = nullptr;
};
constexpr Change kChanges[] = {{"kube", "apply", "value"}, {"kube", "apply-in-parallel", "value"},
                               {"kube", "patch", "value"}, {"kube", "delete"},
                               {"config", "create"},       {"config", "delete"},
                               {"oam", "component-apply"}, {"multicluster", "deploy"}};

bool names(const Value& object, const Value& owner) {
  return object["apiVersion"] == owner["apiVersion"] && object["kind"] == owner["kind"] &&
         kube::name(object) == kube::name(owner) && kube::ns(object) == kube::ns(owner);
}

}  // namespace

/// A step of that stage, or a member of a group of that stage.
bool PassRun::is_pre_render(const Step& step) const {
  return std::ranges::any_of(run_.steps.steps, [&](const Step& one) {
    return one.is_pre_render &&
           (&one == &step || std::ranges::any_of(one.sub_steps, [&](const Step& sub) { return &sub == &step; }));
  });
}

bool PassRun::has_pre_render_ended() const {
  return std::ranges::all_of(run_.steps.steps, [&](const Step& step) {
    const auto known = by_name_.find(step.name);
    return !step.is_pre_render || (known != by_name_.end() && is_finished(known->second));
  });
}

bool PassRun::has_pre_render_succeeded() const {
  return std::ranges::all_of(run_.steps.steps, [&](const Step& step) {
    const auto known = by_name_.find(step.name);
    return !step.is_pre_render ||
           (known != by_name_.end() && (known->second.phase == kSucceeded || known->second.phase == kSkipped));
  });
}

/// Why the step may not make the call; empty when it may.
std::string PassRun::refusal_of(const Step& step, const NextCall& call) const {
  if (!is_pre_render(step)) return "";
  const auto change = std::ranges::find_if(kChanges, [&](const Change& one) {
    return one.package == call.provider->package && one.function == call.provider->function;
  });
  if (change == std::end(kChanges)) return "";
  const Value object = change->object == nullptr ? Value() : call.params[change->object];
  const bool is_own =
      object.is_array() ? std::ranges::all_of(object.items(), [&](const Value& one) { return names(one, run_.setting.owner); })
                        : names(object, run_.setting.owner);
  if (change->object != nullptr && is_own) return "";
  return fmt::format("a step of stage pre-render may change the {} {} only", run_.setting.owner["kind"].as_string(),
                     kube::name(run_.setting.owner));
}

}  // namespace slipway::delivery::workflow

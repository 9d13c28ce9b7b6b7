#include "delivery/application/plan_writes.h"

#include <algorithm>

#include "base/digest.h"
#include "delivery/application/rollout_plans.h"
#include "delivery/family/claimed_fields.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

/// Objects of the current trackers that roll something out.
std::vector<ManagedResource> rollouts_of(AppRun& run) {
  std::vector<ManagedResource> all;
  for (const Tracker* tracker : {&run.current(), &run.root()}) {
    std::ranges::copy_if(tracker->resources, std::back_inserter(all),
                         [](const ManagedResource& one) { return one.is_whole && has_plan(one.raw); });
  }
  return all;
}

/// A step that gives the whole plan away has a plan of its own.
bool gives_plan_away(const Value& manifest) {
  return std::ranges::any_of(claimed_fields(manifest), [](const std::vector<std::string>& path) { return path.size() == 2; });
}

/// The plan that a component's trait comes to now; null when it makes no such object any more.
Task<Result<Value>> plan_of_trait(AppRun& run, ManagedResource rollout) {
  const Placement at{std::string(kube::label(rollout.raw, kLabelCluster)), rollout.ns};
  const auto component = co_await run.delivered_component(rollout.component, at);
  if (!component) co_return Value();
  SLIPWAY_CO_TRY(rendered, co_await run.render(*component, at, {}, {}));
  for (const RenderedObject& one : rendered->others) {
    const bool is_it = one.trait == rollout.trait && kube::name(one.object) == rollout.name && has_plan(one.object);
    if (is_it) co_return one.object["spec"]["rolloutPlan"];
  }
  co_return Value();
}

Task<Result<Value>> plan_of(AppRun& run, ManagedResource rollout) {
  if (!rollout.trait.empty()) co_return co_await plan_of_trait(run, rollout);
  const Value& plan = run.parsed().spec.rollout_plan;
  co_return plan.is_null() || gives_plan_away(rollout.raw) ? Value() : plan;
}

}  // namespace

Task<Result<void>> write_plans(AppRun& run) {
  const Value plans = plans_in(run.application()["spec"]);
  if (plans.is_null()) co_return Result<void>{};
  const std::string digest = sha256_hex(run.revision() + json::print(plans));
  if (run.memory().plans == digest) co_return Result<void>{};
  for (const ManagedResource& rollout : rollouts_of(run)) {
    SLIPWAY_CO_TRY(plan, co_await plan_of(run, rollout));
    if (plan.is_null()) continue;
    std::vector<Manifest> manifests;
    manifests.push_back({.object = rollout.raw.with_path({"spec", "rolloutPlan"}, plan),
                         .cluster = rollout.cluster,
                         .component = rollout.component,
                         .trait = rollout.trait,
                         .creator = rollout.creator,
                         .is_tried_first = true});
    SLIPWAY_CO_TRY_VOID(co_await run.apply(std::move(manifests)));
  }
  run.memory().plans = digest;
  co_return Result<void>{};
}

}  // namespace slipway::delivery::application

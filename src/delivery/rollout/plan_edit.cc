#include "delivery/rollout/plan_edit.h"

#include <array>
#include <vector>

#include "delivery/family/claimed_fields.h"
#include "delivery/rollout/admission.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/pass.h"
#include "delivery/rollout/status.h"
#include "delivery/rollout/subject.h"
#include "json/members.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using kube::Object;

constexpr std::string_view kPlanPath = "spec.rolloutPlan";

/// The members of a plan that the trait of a component has; what it leaves out its template decides.
constexpr std::array<std::string_view, 3> kOfTrait{"targetSize", "rolloutBatches", "batchPartition"};

Object begun_by(const PlanEdit& edit) {
  const kube::GroupVersionKind& kind = edit.is_of_application ? kAppRolloutKind : kRolloutKind;
  const Value target = edit.is_of_application ? json::object({{"targetAppRevisionName", edit.name}})
                                              : json::object({{"targetRevisionName", edit.name}, {"componentName", edit.name}});
  return json::object({{"apiVersion", kind.api_version()},
                       {"kind", kind.kind},
                       {"metadata", json::object({{"name", edit.name}, {"namespace", edit.ns}})},
                       {"spec", target.with("rolloutPlan", edit.plan)}});
}

/// The plan of `live` as it becomes: what people changed there and the edit repeats stays.
Value plan_after(const PlanEdit& edit, const Object& live) {
  if (!edit.is_of_application) {
    Value plan = live["spec"]["rolloutPlan"];
    for (const std::string_view name : kOfTrait) plan = plan.without(name);
    plan = json::with_members(plan, edit.plan);
    return plan["rolloutBatches"].is_null() ? plan : plan.without("numBatches");
  }
  Object manifest = with_claimed_values(live.with_path({"spec", "rolloutPlan"}, edit.plan));
  for (const std::vector<std::string>& path : claimed_fields(live)) {
    if (path.size() < 3 || path[0] != "spec" || path[1] != "rolloutPlan" || is_claim_changed(manifest, live, path)) continue;
    const Value& now = live["spec"]["rolloutPlan"][path[2]];
    manifest = now.is_null() ? manifest.without_path({"spec", "rolloutPlan", path[2]})
                             : manifest.with_path({"spec", "rolloutPlan", path[2]}, now);
  }
  return manifest["spec"]["rolloutPlan"];
}

bool is_claimed_whole(const Object& rollout) {
  for (const std::vector<std::string>& path : claimed_fields(rollout)) {
    if (path == std::vector<std::string>{"spec", "rolloutPlan"}) return true;
  }
  return false;
}

/// Whether the rollout is under way to the target that the plan is for.
bool is_its(const PlanEdit& edit, const Object& live) {
  if (live.is_null() || kube::is_deleting(live) || is_claimed_whole(live)) return false;
  return !edit.is_of_application || live["spec"]["targetAppRevisionName"].as_string() == edit.revision;
}

bool has_ended(const Object& rollout) {
  const auto record = json::decode<wave::Record>(rollout["status"], "status", {.allow_unknown = true});
  return record && !rollout["status"]["rollingState"].is_null() && record->position().is_end();
}

/// A new size of a rollout that replaces pods, or has replaced them, must be one that its batches make.
std::vector<Cause> check_new_size(const PlanEdit& edit, const Object& live) {
  const Object wanted = live.with_path({"spec", "rolloutPlan"}, plan_after(edit, live));
  const bool is_pair = live["status"]["shape"].as_string() == name_of(wave::Shape::Pair);
  const bool is_other = wanted["spec"]["rolloutPlan"]["targetSize"] != live["spec"]["rolloutPlan"]["targetSize"];
  const auto subject = read_subject(wanted);
  if (!is_pair || !is_other || !subject || !subject->plan.target_size) return {};
  const auto plan = read_plan(subject->plan, wave::Shape::Pair);
  if (!plan || plan->settings.batches.empty()) return {};
  std::vector<wave::Batch> sizes;
  for (const wave::RollBatch& batch : plan->settings.batches) sizes.push_back(batch.sizes);
  auto causes = wave::check_batches(sizes, 0, *subject->plan.target_size, "rolloutBatches");
  for (Cause& cause : causes) cause.message += ": change them together with targetSize";
  return causes;
}

}  // namespace

std::vector<Cause> check_plan_edit(const PlanEdit& edit, const kube::FindObject& find) {
  // What a component's trait may say is for its template to check.
  std::vector<Cause> causes = edit.is_of_application ? check_spec(begun_by(edit)) : std::vector<Cause>{};
  if (causes.empty() && edit.goes_on) {
    const Object live = find(edit.is_of_application ? kAppRollouts : kRollouts, edit.ns, edit.name);
    if (is_its(edit, live)) {
      if (!has_ended(live)) causes = check_update(live.with_path({"spec", "rolloutPlan"}, plan_after(edit, live)), live);
      if (causes.empty()) causes = check_new_size(edit, live);
    }
  }
  for (Cause& cause : causes) {
    if (cause.field.starts_with(kPlanPath)) cause.field.erase(0, std::min(kPlanPath.size() + 1, cause.field.size()));
  }
  return causes;
}

}  // namespace slipway::delivery::rollout

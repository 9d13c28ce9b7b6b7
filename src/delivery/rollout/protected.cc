#include "delivery/rollout/protected.h"

#include <fmt/format.h>

#include "delivery/gate/weaker.h"
#include "delivery/rollout/gate_reach.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/requests.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/subject.h"

namespace slipway::delivery::rollout {
namespace {

/// All gates of the plan, hooks and metrics among them, named by moment and name. None of one that cannot be read.
std::vector<gate::GateSpec> gates_of(const kube::Object& rollout) {
  const auto subject = read_subject(rollout);
  const auto plan = subject ? read_plan(subject->plan, wave::Shape::Pair) : Result<PlanSettings>(fail(subject.error()));
  std::vector<gate::GateSpec> gates;
  if (!plan) return gates;
  for (const auto& [key, gate] : plan->gates) gates.emplace_back(gate).name = key;
  return gates;
}

std::vector<std::string> weakened_gates(const kube::Object& rollout, const kube::Object& old) {
  if (rollout["spec"] == old["spec"]) return {};
  std::vector<std::string> paths = gate::weakened_gates(gates_of(old), gates_of(rollout));
  for (std::string& one : paths) one = fmt::format("spec.rolloutPlan.gates[{}]", one);
  return paths;
}

/// More of the new version may run before an approval gate has passed.
std::vector<std::string> emptied_gates(const kube::Object& rollout, const kube::Object& old) {
  if (rollout["spec"]["rolloutPlan"] == old["spec"]["rolloutPlan"] || !gate::has_approval(gates_of(old))) return {};
  const auto now = read_subject(rollout), before = read_subject(old);
  if (!now || !before) return {};  // read as one without gates by weakened_gates()
  const auto plan = read_plan(now->plan, wave::Shape::Pair), old_plan = read_plan(before->plan, wave::Shape::Pair);
  if (!plan || !old_plan) return {};
  const std::int64_t recorded = old["status"]["rolloutTargetSize"].as_int(-1);
  const auto path =
      widened_reach({before->plan, *old_plan}, {now->plan, *plan}, recorded < 0 ? std::nullopt : std::optional(recorded));
  return path ? std::vector{*path} : std::vector<std::string>{};
}

/// It has begun, is not over, and has approval gates.
std::vector<std::string> deleted_in_flight(const kube::Object& rollout, const kube::Object& old) {
  if (!kube::is_deleting(rollout)) return {};
  const auto record = json::decode<wave::Record>(old["status"], "status", {.allow_unknown = true});
  const bool is_under_way = record && !old["status"]["rollingState"].is_null() &&
                            record->rolling > wave::Rolling::VerifyingSpec && !record->position().is_end();
  if (!is_under_way || !gate::has_approval(gates_of(old))) return {};
  return {"spec.rolloutPlan.gates"};
}

constexpr std::string_view kGates = "gates of spec.rolloutPlan";
constexpr std::string_view kReach = "what spec.rolloutPlan delivers before an approval gate";
constexpr std::string_view kReachRefusal = "more would be delivered before this approval gate than now: for that";
constexpr std::string_view kDelete = "delete before its end";
const Protection kRows[] = {
    {kTraitKind, kGates, kApproveVerb, kTraits, true, weakened_gates},
    {kTraitKind, kReach, kApproveVerb, kTraits, true, emptied_gates, kReachRefusal},
    {kTraitKind, kDelete, kApproveVerb, kTraits, true, deleted_in_flight},
    {kRolloutKind, kGates, kApproveVerb, kRollouts, true, weakened_gates},
    {kRolloutKind, kReach, kApproveVerb, kRollouts, true, emptied_gates, kReachRefusal},
    {kRolloutKind, kDelete, kApproveVerb, kRollouts, true, deleted_in_flight},
    {kAppRolloutKind, kGates, kApproveVerb, kAppRollouts, true, weakened_gates},
    {kAppRolloutKind, kReach, kApproveVerb, kAppRollouts, true, emptied_gates, kReachRefusal},
    {kAppRolloutKind, kDelete, kApproveVerb, kAppRollouts, true, deleted_in_flight},
};

}  // namespace

std::span<const Protection> protections() { return kRows; }

}  // namespace slipway::delivery::rollout

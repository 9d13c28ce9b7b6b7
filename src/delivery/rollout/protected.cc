#include "delivery/rollout/protected.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/gate/weaker.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/requests.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/subject.h"

namespace slipway::delivery::rollout {
namespace {

using Gates = std::map<std::string, gate::GateSpec>;

/// All gates of the plan, hooks and metrics among them, by moment and name. None of one that cannot be read.
Gates gates_of(const kube::Object& rollout) {
  const auto subject = read_subject(rollout);
  const auto plan = subject ? read_plan(subject->plan, wave::Shape::Pair) : Result<PlanSettings>(fail(subject.error()));
  return plan ? plan->gates : Gates{};
}

bool has_approval(const Gates& gates) {
  return std::ranges::any_of(gates, [](const auto& one) { return one.second.approval.has_value(); });
}

std::vector<std::string> weakened_gates(const kube::Object& rollout, const kube::Object& old) {
  std::vector<std::string> paths;
  if (rollout["spec"] == old["spec"]) return paths;
  const Gates before = gates_of(old);
  if (!has_approval(before)) return paths;
  const Gates after = gates_of(rollout);
  for (const auto& [key, gate] : before) {
    const auto now = after.find(key);
    if (now == after.end() || gate::is_weaker(gate, now->second)) {
      paths.push_back(fmt::format("spec.rolloutPlan.gates[{}]", key));
    }
  }
  return paths;
}

/// It has begun, is not over, and has approval gates.
std::vector<std::string> deleted_in_flight(const kube::Object& rollout, const kube::Object& old) {
  if (!kube::is_deleting(rollout)) return {};
  const auto record = json::decode<wave::Record>(old["status"], "status", {.allow_unknown = true});
  const bool is_under_way = record && !old["status"]["rollingState"].is_null() &&
                            record->rolling > wave::Rolling::VerifyingSpec && !record->position().is_end();
  if (!is_under_way || !has_approval(gates_of(old))) return {};
  return {"spec.rolloutPlan.gates"};
}

constexpr std::string_view kGates = "gates of spec.rolloutPlan";
constexpr std::string_view kDelete = "delete before its end";
const Protection kRows[] = {
    {kTraitKind, kGates, kApproveVerb, kTraits, true, weakened_gates},
    {kTraitKind, kDelete, kApproveVerb, kTraits, true, deleted_in_flight},
    {kRolloutKind, kGates, kApproveVerb, kRollouts, true, weakened_gates},
    {kRolloutKind, kDelete, kApproveVerb, kRollouts, true, deleted_in_flight},
    {kAppRolloutKind, kGates, kApproveVerb, kAppRollouts, true, weakened_gates},
    {kAppRolloutKind, kDelete, kApproveVerb, kAppRollouts, true, deleted_in_flight},
};

}  // namespace

std::span<const Protection> protections() { return kRows; }

}  // namespace slipway::delivery::rollout

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promoter.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

bool is_by_agent(const PromotionStatus& status) {
  return status.reason == row_of(PromotionCause::RolledBackByAgent).reason ||
         status.reason == row_of(PromotionCause::FailedByAgent).reason;
}

}  // namespace

/// Each Approval with `lift` lifts once: what was rejected when it was given. A rejection by the agent is lifted by the
/// environment itself, once all targets are ready at the release after all.
void Promoter::lift() {
  std::set<std::string> used;
  for (const KnownPromotion& one : world_.promotions) used.insert(one.status.lifted_by);
  const auto lift_for = [&](const KnownPromotion& one, Time after, bool is_rollback) -> const Known<ApprovalSpec>* {
    const Release* release = world_.find_release(one.spec.release);
    for (const Known<ApprovalSpec>& said : world_.input.approvals) {
      const bool is_there = said.spec.decision == "lift" && said.spec.environment == one.spec.environment;
      if (!is_there || said.created < after || used.contains(said.name)) continue;
      const Release* lifted = world_.find_release(said.spec.release);
      const bool is_later =
          is_rollback && release != nullptr && lifted != nullptr && world_.compare(*release, *lifted) == Order::Newer;
      if (said.spec.release == one.spec.release || is_later) return &said;
    }
    return nullptr;
  };
  for (KnownPromotion& one : world_.promotions) {
    if (one.status.phase != Phase::Rejected || one.status.is_lifted) continue;
    const Release* release = world_.find_release(one.spec.release);
    if (const auto* said = lift_for(one, one.status.ended.value_or(Time{}), false)) {
      one.status.is_lifted = true;
      one.status.lifted_by = said->name;
    } else if (is_by_agent(one.status) && release != nullptr && world_.is_settled_at(one.spec.environment, *release)) {
      one.status.is_lifted = true;
      one.status.text += "; all targets are ready at it after all";
    }
  }
  for (const Environment& at : world_.input.spec.environments) {
    KnownPromotion* rollback = world_.rollback_in_force(at.name);
    if (rollback == nullptr) continue;
    if (const auto* said = lift_for(*rollback, *rollback->status.started, true)) {
      rollback->status.is_lifted = true;
      if (rollback->status.lifted_by.empty()) rollback->status.lifted_by = said->name;
    }
  }
}

/// What succeeded last in an environment is rejected when the environment went back behind it: no revert is undone.
void Promoter::look_back() {
  for (const Environment& at : world_.input.spec.environments) {
    KnownPromotion* last = nullptr;
    for (KnownPromotion* one : world_.into(at.name)) {
      const bool is_later = last == nullptr || last->status.ended.value_or(Time{}) <= one->status.ended.value_or(Time{});
      if (one->status.phase == Phase::Succeeded && is_later) last = one;
    }
    const Release* release = last == nullptr ? nullptr : world_.find_release(last->spec.release);
    if (release == nullptr) continue;
    const auto index = *world_.index_of(at.name);
    if (is_given_up(index, *last, *release)) continue;
    const EnvironmentStatus& status = world_.status_of(at.name);
    const bool is_settled = status.version && status.ready_count == status.target_count;
    if (!is_settled || world_.compare(*release, *status.version) != Order::Older) continue;
    apply(*last, {.cause = PromotionCause::ReplacedByLower,
                  .text = fmt::format("{} went back to {}", at.name, status.version->text),
                  .blockers = {}});
    last->status.ended = seconds();
  }
}

/// A rollback begins: what it leads back from is rejected.
void Promoter::reject_by(const KnownPromotion& rollback) {
  const Release* back_to = world_.find_release(rollback.spec.release);
  for (KnownPromotion* one : world_.into(rollback.spec.environment)) {
    const Release* release = world_.find_release(one->spec.release);
    const bool was_there =
        one->status.phase == Phase::Succeeded || one->status.phase == Phase::Running || one->status.phase == Phase::Settling;
    if (one->name == rollback.name || !was_there || release == nullptr || back_to == nullptr) continue;
    if (world_.compare(*back_to, *release) != Order::Newer) continue;
    const std::string who = rollback.spec.by ? fmt::format(" by {}", rollback.spec.by->user) : "";
    apply(*one, {.cause = PromotionCause::RolledBack,
                 .text = fmt::format("rolled back to {}{}{}{}", back_to->spec.version, who,
                                     rollback.spec.comment.empty() ? "" : ": ", rollback.spec.comment),
                 .blockers = {{kPromotionKind.kind, rollback.name}}});
    one->status.ended = seconds();
  }
}

}  // namespace slipway::delivery::pipeline

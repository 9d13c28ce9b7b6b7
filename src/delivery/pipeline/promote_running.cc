#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promoter.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr Duration kLookAtPullRequest = std::chrono::minutes{1};
/// How long agents may take to see a change, before a newer release takes its place.
constexpr Duration kTakeUp = std::chrono::minutes{10};

/// How a target keeps a promotion from being over, the worst first.
constexpr std::pair<State, PromotionCause> kUnready[] = {
    {State::Unreachable, PromotionCause::TargetUnreachable}, {State::Stale, PromotionCause::TargetUnreachable},
    {State::Forbidden, PromotionCause::TargetForbidden},     {State::Mixed, PromotionCause::TargetMixed},
    {State::Absent, PromotionCause::TargetAbsent},           {State::Suspended, PromotionCause::TargetSuspended},
};

std::string why(const TargetStatus& target) {
  const std::string text = target.text.empty() ? target.error : target.text;
  return fmt::format("{}: {}{}{}", named(target), json::enum_name(target.state), text.empty() ? "" : ", ", text);
}

bool is_touched(const TargetStatus& target, const Release& release) {
  return is_at(target.specified, release) || is_at(target.attempted, release) || is_at(target.running, release);
}

}  // namespace

std::string named(const TargetStatus& target) {
  const std::string cluster = target.app.cluster ? target.app.cluster->name + " " : "";
  return fmt::format("{}{}/{}", cluster, target.ns, target.app.name);
}

/// The change is taken back where it can be, and then the promotion ends for that cause.
void Promoter::withdraw(KnownPromotion& promotion, PromotionCause cause, std::string text) {
  PromotionStatus& status = promotion.status;
  const bool is_open = status.strategy == "pull-request" && !status.change_in && status.pull_request_state != "closed";
  if (!is_open) {
    apply(promotion, {.cause = cause, .text = std::move(text), .blockers = {}});
    return;
  }
  status.ending = row_of(cause).reason;
  set(promotion, status.phase, row_of(PromotionCause::Withdrawing).reason, std::move(text));
  const bool is_early = status.next_try && world_.input.now.present(*status.next_try) > world_.now();
  if (is_early) {
    look_at(world_.input.now.present(*status.next_try));
  } else {
    effect(PromotionEffect::Kind::Withdraw, promotion);
  }
}

/// One that is under way: its change is not in (Running), or its targets are not there yet (Settling).
void Promoter::advance_running(std::size_t index, KnownPromotion& promotion) {
  PromotionStatus& status = promotion.status;
  const Release* release = world_.find_release(promotion.spec.release);
  if (release == nullptr) {
    wait(promotion, {.cause = PromotionCause::ReleaseNotFound,
                     .text = fmt::format("there is no Release {}", promotion.spec.release),
                     .blockers = {}});
    return;
  }
  if (status.phase == Phase::Waiting) {  // observed
    const bool is_there = world_.is_settled_at(environment(index).name, *release);
    if (!is_there) {
      apply(promotion, {.cause = PromotionCause::GoneBefore, .text = "what was seen there is gone", .blockers = {}});
      return;
    }
    status.started = status.change_in = seconds();
  }
  const bool is_there = world_.is_settled_at(environment(index).name, *release);
  if (status.change_in || (is_there && status.ending.empty())) {
    if (!status.change_in) found_in(index, promotion, *release);
    status.ending.clear();
    advance_settling(index, promotion);
    return;
  }
  if (!status.ending.empty()) {
    withdraw(promotion, cause_named(status.ending).value_or(PromotionCause::NewerRelease), status.text);
    return;
  }
  if (auto refused = judge_refusals(world_, promotion)) {
    withdraw(promotion, PromotionCause::RefusedByPerson, refused->text);
    return;
  }
  if (status.pull_request_state == "closed") {
    apply(promotion, {.cause = PromotionCause::PullRequestClosed,
                      .text = fmt::format("{} was closed without a merge", status.pull_request),
                      .blockers = {}});
    return;
  }
  // The environment may have gone on since the promotion began: nothing older comes after that.
  if (auto found = direction(index, promotion, *release); found && row_of(found->cause).outcome == CauseOutcome::Superseded) {
    withdraw(promotion, found->cause, found->text);
    return;
  }
  const bool is_for_others = status.strategy == "notification" || status.strategy == "none";
  if (is_for_others && is_given_up(index, promotion, *release)) return;
  const auto& targets = world_.status_of(environment(index).name).targets;
  const bool has_begun = is_for_others && !targets.empty() &&
                         std::ranges::all_of(targets, [&](const TargetStatus& target) { return is_touched(target, *release); });
  if (has_begun) {
    found_in(index, promotion, *release);
    advance_settling(index, promotion);
    return;
  }
  bring(index, promotion);
}

/// What is in the way of every change is looked at before each try.
void Promoter::bring(std::size_t index, KnownPromotion& promotion) {
  PromotionStatus& status = promotion.status;
  look_at(world_.standstill_changes(index));
  const bool is_proposed = status.strategy == "pull-request" && !status.pull_request.empty();
  const bool is_told = status.strategy == "none" || (status.strategy == "notification" && status.is_notified);
  if (is_told) {
    const std::string how = status.strategy == "none" ? "no strategy is given" : "it was told by an event";
    wait(promotion, {.cause = PromotionCause::AwaitsChange,
                     .text = fmt::format("{}: somebody has to bring it into {}", how, environment(index).name),
                     .blockers = {}});
    return;
  }
  const bool is_early = status.next_try && world_.input.now.present(*status.next_try) > world_.now();
  if (auto still = world_.standstill(index)) {
    wait(promotion, {.cause = still->cause, .text = still->text, .blockers = still->blockers});
    if (!is_proposed) return;
    effect(PromotionEffect::Kind::Look, promotion);
    decision_.effects.back().is_frozen = true;
    look_at(world_.now() + kLookAtPullRequest);
    return;
  }
  if (is_early) {
    look_at(world_.input.now.present(*status.next_try));
    return;
  }
  if (is_proposed) {
    wait(promotion, {.cause = PromotionCause::PullRequestOpen,
                     .text = fmt::format("{} has not been merged", status.pull_request),
                     .blockers = {}});
    look_at(world_.now() + kLookAtPullRequest);
  }
  effect(PromotionEffect::Kind::Bring, promotion);
}

bool Promoter::is_overtaken(std::size_t index, KnownPromotion& promotion, const Release& release) {
  const EnvironmentStatus& status = world_.status_of(environment(index).name);
  const bool is_settled = status.version && status.ready_count == status.target_count;
  const bool is_newer = is_settled && world_.compare(release, *status.version) == Order::Newer;
  if (!is_newer || promotion.spec.action == PromotionAction::Rollback) return false;
  withdraw(promotion, PromotionCause::Overtaken,
           fmt::format("{} went on to {}", environment(index).name, status.version->text));
  return true;
}

/// The agent of a target has tried the release and gone back, or failed, since the promotion began.
bool Promoter::is_given_up(std::size_t index, KnownPromotion& promotion, const Release& release) {
  for (const TargetStatus& target : world_.status_of(environment(index).name).targets) {
    const bool is_back = target.state == State::RolledBack;
    if ((!is_back && target.state != State::Failed) || !is_at(target.attempted, release)) continue;
    const Time since = target.since ? world_.input.now.present(*target.since) : world_.now();
    const Time began = world_.input.now.present(promotion.status.started.value_or(promotion.created));
    if (since < began) {
      if (promotion.status.phase != Phase::Settling) continue;
      wait(promotion, {.cause = PromotionCause::AgentGaveUpBefore,
                       .text = fmt::format("the agent gave it up before this attempt: have it try again; {}", why(target)),
                       .blockers = {}});
      return true;
    }
    apply(promotion, {.cause = is_back ? PromotionCause::RolledBackByAgent : PromotionCause::FailedByAgent,
                      .text = why(target),
                      .blockers = {}});
    promotion.status.ended = seconds();
    return true;
  }
  return false;
}

/// Its change has been in for long, and no target has tried it.
bool Promoter::is_ignored(std::size_t index, const KnownPromotion& promotion) {
  const Release* release = world_.find_release(promotion.spec.release);
  const PromotionStatus& status = promotion.status;
  if (status.phase != Phase::Settling || status.arrived || !status.change_in || release == nullptr) return false;
  const auto& targets = world_.status_of(environment(index).name).targets;
  const bool is_touched_somewhere =
      std::ranges::any_of(targets, [&](const TargetStatus& target) { return is_touched(target, *release); });
  if (is_touched_somewhere) return false;
  const Time late = world_.input.now.present(*status.change_in) + kTakeUp;
  look_at(late);
  return world_.now() >= late;
}

/// Which targets are not ready at the release, and why.
Obstacle Promoter::unready(std::size_t index, const Release& release) const {
  const EnvironmentStatus& status = world_.status_of(environment(index).name);
  Obstacle found{.cause = PromotionCause::TargetNotReady, .text = "", .blockers = {}};
  const TargetStatus* worst = nullptr;
  for (const auto& [state, cause] : kUnready) {
    const auto at = std::ranges::find(status.targets, state, &TargetStatus::state);
    if (at == status.targets.end()) continue;
    found.cause = cause;
    worst = &*at;
    break;
  }
  if (worst == nullptr) {
    const auto at = std::ranges::find_if(
        status.targets, [&](const TargetStatus& target) { return !target.is_ready || !is_at(target.running, release); });
    if (at != status.targets.end()) worst = &*at;
  }
  std::int64_t ready = 0;
  for (const TargetStatus& target : status.targets) ready += target.is_ready && is_at(target.running, release) ? 1 : 0;
  const bool are_all_listed = static_cast<std::int64_t>(status.targets.size()) == status.target_count;
  const std::string count = are_all_listed ? fmt::format("{} of {} targets are", ready, status.target_count)
                                           : fmt::format("not all of {} targets are", status.target_count);
  found.text = fmt::format("{} ready at {}{}{}", count, release.spec.version, worst == nullptr ? "" : "; ",
                           worst == nullptr ? "" : why(*worst));
  return found;
}

void Promoter::advance_settling(std::size_t index, KnownPromotion& promotion) {
  const Release& release = *world_.find_release(promotion.spec.release);
  PromotionStatus& status = promotion.status;
  status.phase = Phase::Settling;
  status.tries = 0;
  status.next_try.reset();
  if (auto refused = judge_refusals(world_, promotion)) {
    apply(promotion, std::move(*refused));
    return;
  }
  if (world_.is_settled_at(environment(index).name, release)) {
    settle(index, promotion);
    return;
  }
  break_soak(status);
  if (is_overtaken(index, promotion, release) || is_given_up(index, promotion, release)) return;
  const EnvironmentStatus& seen = world_.status_of(environment(index).name);
  const bool is_settled = seen.version && seen.ready_count == seen.target_count;
  if (status.arrived && is_settled && world_.compare(release, *seen.version) == Order::Older) {
    apply(promotion, {.cause = PromotionCause::ReplacedByLower,
                      .text = fmt::format("{} went back to {}", environment(index).name, seen.version->text),
                      .blockers = {}});
    return;
  }
  wait(promotion, unready(index, release));
}

/// All targets are ready at the release: what it has to pass before it leaves.
void Promoter::settle(std::size_t index, KnownPromotion& promotion) {
  if (!promotion.status.arrived) promotion.status.arrived = seconds();
  GatesView gates = judge_gates(world_, environment(index), promotion, "after");
  GatesView soak = judge_soak(world_, environment(index), promotion);
  look_at(gates.next);
  look_at(soak.next);
  const std::optional<Obstacle>& found = gates.obstacle ? gates.obstacle : soak.obstacle;
  const bool is_rejected = found && row_of(found->cause).outcome == CauseOutcome::Rejected;
  if (!is_rejected) {
    for (std::string& gate : gates.asks) effect(PromotionEffect::Kind::Ask, promotion, std::move(gate));
  }
  if (found) {
    apply(promotion, *found);
  } else {
    set(promotion, Phase::Succeeded, json::enum_name(Phase::Succeeded), "all targets are ready at it");
  }
}

}  // namespace slipway::delivery::pipeline

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promoter.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

std::int64_t count_of(const EnvironmentStatus& status, State state) {
  const auto at = status.states.find(std::string(json::enum_name(state)));
  return at == status.states.end() ? 0 : at->second;
}

/// ": prod-eu podinfo/podinfo, …" of targets that cannot be seen; three of them.
std::string examples_of(const EnvironmentStatus& status) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (const TargetStatus& target : status.targets) {
    const bool is_seen = target.state != State::Unreachable && target.state != State::Stale && target.state != State::Forbidden;
    if (!is_seen && names.size() < kMost) names.push_back(named(target));
  }
  return names.empty() ? "" : fmt::format(": {}", fmt::join(names, ", "));
}

}  // namespace

/// Whether the release is what may come next here, as far as versions tell.
std::optional<Obstacle> Promoter::direction(std::size_t index, const KnownPromotion& promotion, const Release& release) const {
  const std::string& name = environment(index).name;
  const std::string& version = release.spec.version;
  const Standing stands = world_.standing(name, release);
  if (promotion.spec.action == PromotionAction::Rollback) {
    if (stands.ahead > 0 || stands.unknown > 0 || stands.apart > 0) return std::nullopt;
    return Obstacle{.cause = PromotionCause::Overtaken,
                    .text = fmt::format("{} runs nothing newer than {}: there is nothing to roll back", name, version),
                    .blockers = {}};
  }
  if (stands.ahead > 0) {
    return Obstacle{.cause = PromotionCause::Overtaken,
                    .text = fmt::format("{} runs {}, which is newer than {}: to go back, ask for a rollback", name,
                                        stands.example, version),
                    .blockers = {}};
  }
  if (stands.apart > 0 && stands.behind == 0 && stands.unknown == 0) {
    return Obstacle{.cause = PromotionCause::Drifted,
                    .text = fmt::format("{} runs {} with other content than the release", name, stands.example),
                    .blockers = {}};
  }
  const bool is_asked_for = promotion.spec.by || !judge_manual(world_, promotion);
  if (stands.unknown == 0 || is_asked_for) return std::nullopt;
  return Obstacle{.cause = PromotionCause::OrderUnknown,
                  .text = fmt::format("nothing says whether {} is newer than {}, which {} runs: approve it if it is", version,
                                      stands.example, name),
                  .blockers = {}};
}

/// What cannot be seen cannot be promoted into.
std::optional<Obstacle> Promoter::reach(std::size_t index) const {
  const std::string& name = environment(index).name;
  const EnvironmentStatus& status = world_.status_of(name);
  const std::int64_t lost = count_of(status, State::Unreachable) + count_of(status, State::Stale);
  const std::int64_t hidden = count_of(status, State::Forbidden);
  if (status.target_count == 0) {
    return Obstacle{.cause = PromotionCause::StatusBehind,
                    .text = fmt::format("the pipeline's status says nothing of {}", name),
                    .blockers = {{kPipelineKind.kind, world_.input.pipeline}}};
  }
  if (lost + hidden == 0) return std::nullopt;
  return Obstacle{.cause = lost > 0 ? PromotionCause::TargetUnreachable : PromotionCause::TargetForbidden,
                  .text = fmt::format("{} of {} targets of {} {}{}", lost + hidden, status.target_count, name,
                                      lost > 0 ? "cannot be reached" : "may not be looked at", examples_of(status)),
                  .blockers = {}};
}

/// Ready at the release before, or gone on to something newer after it had passed there.
std::optional<Obstacle> Promoter::upstream(std::size_t index, const KnownPromotion& promotion, const Release& release) const {
  const bool is_free = promotion.spec.action == PromotionAction::Rollback || promotion.spec.skips_gates;
  if (is_free) return std::nullopt;
  for (const std::string& name : upstream_of(world_.input.spec, index)) {
    const auto before = world_.index_of(name);
    if (!before || world_.is_verified(*before, release)) continue;
    const Standing stands = world_.standing(name, release);
    const bool has_gone_on = stands.ahead > 0 && stands.behind + stands.at + stands.apart + stands.unknown == 0;
    const bool had_passed = world_.has_passed(name, release.name) || (!has_exit(environment(*before)) && !promotion.spec.by);
    const bool is_rejected = world_.rejection(name, release.name) != nullptr;
    if (has_gone_on && had_passed && !is_rejected) continue;
    if (is_rejected) {
      return Obstacle{.cause = PromotionCause::UpstreamNotPassed,
                      .text = fmt::format("{} was rejected in {}", release.spec.version, name),
                      .blockers = {{kPromotionKind.kind, world_.rejection(name, release.name)->name}}};
    }
    const bool is_there = world_.is_settled_at(name, release);
    const EnvironmentStatus& status = world_.status_of(name);
    return Obstacle{.cause = is_there ? PromotionCause::UpstreamNotPassed : PromotionCause::UpstreamNotReady,
                    .text = is_there ? fmt::format("gates of {} have not passed for {}", name, release.spec.version)
                                     : fmt::format("{} is not ready at {} on all of its {} targets", name, release.spec.version,
                                                   status.target_count),
                    .blockers = {}};
  }
  return std::nullopt;
}

/// The first thing in its way. Gates that ask others come last: no one is asked for what cannot go on anyway.
std::optional<Obstacle> Promoter::obstacle_before(std::size_t index, KnownPromotion& promotion, const KnownPromotion* holder) {
  const Environment& at = environment(index);
  if (auto found = judge_refusals(world_, promotion)) return found;
  const Release* release = world_.find_release(promotion.spec.release);
  if (release == nullptr) {
    return Obstacle{.cause = PromotionCause::ReleaseNotFound,
                    .text = fmt::format("there is no Release {}", promotion.spec.release),
                    .blockers = {}};
  }
  if (auto found = reach(index)) return found;
  if (auto found = direction(index, promotion, *release)) return found;
  if (const KnownPromotion* rejected = world_.rejection(at.name, release->name)) {
    return Obstacle{.cause = PromotionCause::ReleaseRejected,
                    .text = fmt::format("{} was rejected here: {}; an Approval with decision lift lets it be tried again",
                                        release->spec.version, rejected->status.text),
                    .blockers = {{kPromotionKind.kind, rejected->name}}};
  }
  look_at(world_.standstill_changes(index));
  if (auto found = world_.standstill(index)) {
    return Obstacle{.cause = found->cause, .text = std::move(found->text), .blockers = std::move(found->blockers)};
  }
  if (auto found = upstream(index, promotion, *release)) return found;
  const bool may_end_holder = promotion.spec.action == PromotionAction::Rollback && holder != nullptr &&
                              (holder->status.change_in || holder->status.strategy == "commit");
  if (holder != nullptr && !may_end_holder) {
    return Obstacle{.cause = PromotionCause::AnotherPromotion,
                    .text = fmt::format("Promotion {} runs: {}", holder->name, holder->status.reason),
                    .blockers = {{kPromotionKind.kind, holder->name}}};
  }
  const bool goes_back = promotion.spec.action == PromotionAction::Rollback;
  if (promotion_of(world_.input.spec, at).is_manual && !goes_back) {
    if (auto found = judge_manual(world_, promotion)) return found;
  }
  GatesView gates = judge_gates(world_, at, promotion, "before");
  look_at(gates.next);
  for (std::string& gate : gates.asks) effect(PromotionEffect::Kind::Ask, promotion, std::move(gate));
  return std::move(gates.obstacle);
}

void Promoter::advance_waiting(std::size_t index, KnownPromotion& promotion, const KnownPromotion* holder) {
  const Release* release = world_.find_release(promotion.spec.release);
  const bool is_there = release != nullptr && holder == nullptr && world_.is_settled_at(environment(index).name, *release) &&
                        world_.rejection(environment(index).name, release->name) == nullptr &&
                        !judge_refusals(world_, promotion);
  if (is_there) {
    promotion.status.started = seconds();
    found_in(index, promotion, *release);
    advance_settling(index, promotion);
    return;
  }
  if (auto found = obstacle_before(index, promotion, holder)) {
    apply(promotion, std::move(*found));
    return;
  }
  begin(index, promotion);
}

/// The decision to change something is written down; the change is made once that is durable.
void Promoter::begin(std::size_t index, KnownPromotion& promotion) {
  if (promotion.spec.action == PromotionAction::Rollback) reject_by(promotion);
  promotion.status.strategy = strategy_of(world_.input.spec, environment(index));
  promotion.status.started = seconds();
  set(promotion, Phase::Running, row_of(PromotionCause::ChangePending).reason, "the change is about to be made");
  bring(index, promotion);
}

}  // namespace slipway::delivery::pipeline

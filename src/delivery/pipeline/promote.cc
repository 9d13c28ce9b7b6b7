#include "delivery/pipeline/promote.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/promoter.h"
#include "delivery/pipeline/version.h"
#include "json/value.h"

namespace slipway::delivery::pipeline {
namespace {

/// How a version is written into the next environment: what follows "+" names content that the digest says better.
std::string writable(const VersionStatus& version) {
  const bool names_content = !version.digest.empty() || !digest_in(version.text).empty();
  const bool is_semver = Semver::parse(version.text).has_value();
  return names_content && is_semver ? version.text.substr(0, version.text.find('+')) : version.text;
}

ReleaseSpec release_of(const PromotionInput& input, const std::string& environment, const EnvironmentStatus& status) {
  ReleaseSpec spec;
  spec.pipeline = input.pipeline;
  spec.version = writable(*status.version);
  spec.digest = status.version->digest.empty() ? digest_in(status.version->text) : status.version->digest;
  std::set<std::string> images;
  for (const TargetStatus& target : status.targets) images.insert(target.images.begin(), target.images.end());
  spec.images.assign(images.begin(), images.end());
  if (const std::string commit = SourceRevision::parse(status.version->text).digest; commit.starts_with("sha1:")) {
    spec.commit = commit.substr(commit.find(':') + 1);
  }
  spec.environment = environment;
  return spec;
}

bool is_root(const PipelineSpec& spec, std::size_t environment) { return upstream_of(spec, environment).empty(); }

}  // namespace

bool is_live(const PromotionStatus& status) {
  return status.phase == Phase::Waiting || status.phase == Phase::Running || status.phase == Phase::Settling;
}

std::string_view moment_of(const gate::GateSpec& gate) { return gate.at == "before" ? "before" : "after"; }

Promotion promotion_of(const PipelineSpec& spec, const Environment& environment) {
  return environment.promotion ? *environment.promotion : spec.promotion.value_or(Promotion{});
}

std::optional<PullRequest> pull_request_of(const Promotion& promotion) {
  if (promotion.strategy && promotion.strategy->pull_request) return promotion.strategy->pull_request;
  return promotion.pull_request;
}

std::string strategy_of(const PipelineSpec& spec, const Environment& environment) {
  const Promotion promotion = promotion_of(spec, environment);
  if (promotion.strategy && promotion.strategy->commit) return "commit";
  if (pull_request_of(promotion)) return "pull-request";
  const bool notifies = promotion.notification || (promotion.strategy && promotion.strategy->notification);
  return notifies ? "notification" : "none";
}

std::vector<std::string> upstream_of(const PipelineSpec& spec, std::size_t environment) {
  if (spec.environments[environment].depends_on) return *spec.environments[environment].depends_on;
  if (environment == 0) return {};
  return {spec.environments[environment - 1].name};
}

bool is_at(const VersionStatus& version, const Release& release) {
  return !version.text.empty() &&
         order_of(release.spec.version, version.text, release.spec.digest, version.digest) == Order::Same;
}

PromotionDecision decide(const PromotionInput& input) { return Promoter(input).run(); }

Promoter::Promoter(const PromotionInput& input) : world_(input) {}

PromotionDecision Promoter::run() {
  const PromotionInput& input = world_.input;
  if (input.status.observed_generation != input.generation) {
    wait_for_status();
  } else {
    lift();
    look_back();
    make_releases();
    for (std::size_t i = 0; i < input.spec.environments.size(); ++i) advance(i);
  }
  for (KnownPromotion& one : world_.promotions) {
    if (is_live(one.status) && !world_.index_of(one.spec.environment)) {
      wait(one, {.cause = PromotionCause::EnvironmentNotFound,
                 .text = fmt::format("the pipeline has no environment {}", one.spec.environment),
                 .blockers = {}});
    }
    const auto before = std::ranges::find(input.promotions, one.name, &KnownPromotion::name);
    if (json::encode(one.status) != json::encode(before->status)) decision_.statuses.push_back({one.name, one.status});
  }
  return std::move(decision_);
}

/// What the status says is of another spec: nothing is begun.
void Promoter::wait_for_status() {
  for (KnownPromotion& one : world_.promotions) {
    if (one.status.phase != Phase::Waiting) continue;
    wait(one, {.cause = PromotionCause::StatusBehind,
               .text = "the pipeline was changed, and its status is not up to date",
               .blockers = {{kPipelineKind.kind, world_.input.pipeline}}});
  }
}

/// A version at which the first environments have settled is a release, unless it is known as one.
void Promoter::make_releases() {
  const PromotionInput& input = world_.input;
  for (std::size_t i = 0; i < input.spec.environments.size(); ++i) {
    const EnvironmentStatus& status = world_.status_of(environment(i).name);
    const bool is_settled = status.version && status.target_count > 0 && status.ready_count == status.target_count;
    if (!is_root(input.spec, i) || !is_settled || world_.release_at(*status.version) != nullptr) continue;
    ReleaseSpec spec = release_of(input, environment(i).name, status);
    std::string name = release_name(input.pipeline, input.uid, spec, input.prunings);
    const bool is_made = std::ranges::find(decision_.releases, name, &NewRelease::name) != decision_.releases.end() ||
                         world_.find_release(name) != nullptr;
    if (!is_made) decision_.releases.push_back({std::move(name), std::move(spec)});
  }
}

/// The newest release that all environments before this one have let go, and that may come in here.
const Release* Promoter::candidate(std::size_t index) {
  const PromotionInput& input = world_.input;
  const std::vector<std::string> upstream = upstream_of(input.spec, index);
  if (upstream.empty() || world_.rollback_in_force(environment(index).name) != nullptr) return nullptr;
  const Release* newest = nullptr;
  for (const Release& one : input.releases) {
    const bool is_ready = std::ranges::all_of(upstream, [&](const std::string& name) {
      const auto before = world_.index_of(name);
      return before && world_.is_verified(*before, one);
    });
    if (!is_ready || !is_free_for(index, one)) continue;
    const bool is_newer = newest == nullptr || world_.compare(*newest, one) == Order::Newer ||
                          (world_.compare(*newest, one) != Order::Older && newest->created < one.created);
    if (is_newer) newest = &one;
  }
  return newest;
}

/// It was not there before, or may be tried again, and it is not what runs, nor older.
bool Promoter::is_free_for(std::size_t index, const Release& release) {
  const std::string& name = environment(index).name;
  for (const KnownPromotion* one : world_.of(name, release.name)) {
    const bool is_over =
        one->status.phase == Phase::Superseded || (one->status.phase == Phase::Rejected && one->status.is_lifted);
    if (!is_over) return false;
  }
  const Standing stands = world_.standing(name, release);
  return stands.ahead == 0 && (stands.behind > 0 || stands.unknown > 0);
}

/// A release that came later than what a person asked for takes its place; one that was there before does not.
bool Promoter::replaces(const Release& candidate, const KnownPromotion& waiting) const {
  if (waiting.spec.action == PromotionAction::Rollback || waiting.spec.release == candidate.name) return false;
  const Release* release = world_.find_release(waiting.spec.release);
  if (waiting.spec.by && candidate.created <= waiting.created) return false;
  return release == nullptr || world_.compare(*release, candidate) == Order::Newer;
}

void Promoter::create(std::size_t index, const Release& release, PromotionAction action) {
  PromotionSpec spec;
  spec.pipeline = world_.input.pipeline;
  spec.environment = environment(index).name;
  spec.release = release.name;
  for (const KnownPromotion* one : world_.of(spec.environment, release.name)) {
    spec.attempt = std::max(spec.attempt, one->spec.attempt + 1);
  }
  spec.action = action;
  std::string name = promotion_name(world_.input.pipeline, world_.input.uid, spec.environment, spec.release, spec.attempt);
  NewPromotion made{.name = std::move(name), .spec = std::move(spec)};
  if (action == PromotionAction::Observe) {
    if (const std::string freeze = warn_if_frozen(index, made.name, release); !freeze.empty()) {
      made.spec.comment = fmt::format("came in spite of {}", freeze);
    }
  }
  decision_.promotions.push_back(std::move(made));
}

/// The freeze in whose time the release came in by hand; empty: there is none.
std::string Promoter::warn_if_frozen(std::size_t index, const std::string& promotion, const Release& release) {
  const auto still = world_.standstill(index);
  if (!still || still->cause != PromotionCause::Frozen) return "";
  decision_.warnings.push_back({promotion, fmt::format("{} came into {} by hand, in spite of {}", release.spec.version,
                                                       environment(index).name, still->text)});
  return still->blockers.front().name;
}

/// The change is in, though none of ours was confirmed: another writer has made it, unless we were about to commit it.
void Promoter::found_in(std::size_t index, KnownPromotion& promotion, const Release& release) {
  promotion.status.change_in = seconds();
  if (promotion.status.strategy != "commit") warn_if_frozen(index, promotion.name, release);
}

/// The newest of those that wait; a rollback before all others. The rest is superseded.
KnownPromotion* Promoter::choose(std::vector<KnownPromotion*> waiting) {
  if (waiting.empty()) return nullptr;
  const auto rank = [](const KnownPromotion* one) {
    return std::tuple(one->spec.action == PromotionAction::Rollback, one->created, one->spec.by.has_value(), one->revision);
  };
  KnownPromotion* chosen = *std::ranges::max_element(waiting, {}, rank);
  for (KnownPromotion* one : waiting) {
    if (one == chosen) continue;
    apply(*one, {.cause = PromotionCause::NewerRelease,
                 .text = fmt::format("Promotion {} came after it", chosen->name),
                 .blockers = {{kPromotionKind.kind, chosen->name}}});
  }
  return chosen;
}

/// Whether one whose change is not in gives way to what comes; it has ended then. So does one whose change no target has taken
/// up for long: its source fails, or the change was reverted.
bool Promoter::make_way(std::size_t index, KnownPromotion& holder, KnownPromotion* waiting, const Release* candidate) {
  const bool is_proposed =
      holder.status.phase == Phase::Running && !holder.status.change_in && holder.status.strategy != "commit";
  const bool is_observed = holder.spec.action == PromotionAction::Observe;
  if (!is_proposed && !is_observed && !is_ignored(index, holder)) return false;
  const bool is_replaced = candidate != nullptr && replaces(*candidate, holder);
  if (waiting == nullptr && !is_replaced) return false;
  const std::string text = waiting != nullptr ? fmt::format("Promotion {} came after it", waiting->name)
                                              : fmt::format("release {} came after it", candidate->spec.version);
  withdraw(holder, PromotionCause::NewerRelease, text);
  return !is_live(holder.status);
}

void Promoter::advance(std::size_t index) {
  KnownPromotion* holder = nullptr;
  std::vector<KnownPromotion*> waiting;
  for (KnownPromotion* one : world_.into(environment(index).name)) {
    if (!is_live(one->status)) continue;
    const bool is_waiting = one->status.phase == Phase::Waiting && one->spec.action != PromotionAction::Observe;
    if (is_waiting) waiting.push_back(one);
    if (!is_waiting && holder == nullptr) holder = one;
  }
  const Release* next = candidate(index);
  KnownPromotion* chosen = choose(std::move(waiting));
  if (holder != nullptr) {
    advance_running(index, *holder);
    if (is_live(holder->status)) make_way(index, *holder, chosen, next);
    if (!is_live(holder->status)) holder = nullptr;
  }
  if (chosen != nullptr && holder == nullptr && next != nullptr && replaces(*next, *chosen)) {
    apply(*chosen, {.cause = PromotionCause::NewerRelease,
                    .text = fmt::format("release {} came after it", next->spec.version),
                    .blockers = {}});
    chosen = nullptr;
  }
  if (chosen != nullptr) {
    advance_waiting(index, *chosen, holder);
  } else if (holder == nullptr && next != nullptr && is_free_for(index, *next)) {
    create(index, *next, PromotionAction::Promote);
  } else if (holder == nullptr) {
    adopt(index);
  }
}

/// A release that others brought gets a promotion all the same: its gates are asked there, and it is remembered.
void Promoter::adopt(std::size_t index) {
  const Environment& one = environment(index);
  const EnvironmentStatus& status = world_.status_of(one.name);
  const bool is_kept = has_exit(one) || !is_root(world_.input.spec, index);
  if (!is_kept || !status.version) return;
  const Release* release = world_.release_at(*status.version);
  if (release == nullptr || !world_.is_settled_at(one.name, *release)) return;
  for (const KnownPromotion* known : world_.of(one.name, release->name)) {
    const bool is_over =
        known->status.phase == Phase::Superseded || (known->status.phase == Phase::Rejected && known->status.is_lifted);
    if (!is_over) return;
  }
  create(index, *release, PromotionAction::Observe);
}

void Promoter::set(KnownPromotion& promotion, Phase phase, std::string_view reason, std::string text,
                   std::vector<Blocker> blockers) {
  PromotionStatus& status = promotion.status;
  const bool is_changed = status.phase != phase || status.reason != reason || !status.since;
  if (is_changed) status.since = seconds();
  status.phase = phase;
  status.reason = reason;
  status.text = std::move(text);
  status.waits_for = std::move(blockers);
  if (!is_live(status) && !status.ended) status.ended = seconds();
}

void Promoter::wait(KnownPromotion& promotion, Obstacle obstacle) {
  set(promotion, promotion.status.phase, row_of(obstacle.cause).reason, std::move(obstacle.text), std::move(obstacle.blockers));
}

void Promoter::apply(KnownPromotion& promotion, Obstacle obstacle) {
  const CauseRow& row = row_of(obstacle.cause);
  const Phase phase = row.outcome == CauseOutcome::Rejected     ? Phase::Rejected
                      : row.outcome == CauseOutcome::Superseded ? Phase::Superseded
                                                                : promotion.status.phase;
  set(promotion, phase, row.reason, std::move(obstacle.text), std::move(obstacle.blockers));
}

void Promoter::look_at(std::optional<Time> when) {
  if (when && *when > world_.now()) decision_.next = decision_.next ? std::min(*decision_.next, *when) : *when;
}

void Promoter::effect(PromotionEffect::Kind kind, const KnownPromotion& promotion, std::string gate) {
  decision_.effects.push_back({.kind = kind, .promotion = promotion.name, .gate = std::move(gate)});
}

}  // namespace slipway::delivery::pipeline

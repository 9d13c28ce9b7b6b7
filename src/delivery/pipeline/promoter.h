// decide() at work: one pass over the environments of a pipeline, in which promotions are moved on. Internal to promote*.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/pipeline/promote_gates.h"
#include "delivery/pipeline/promote_world.h"

namespace slipway::delivery::pipeline {

class Promoter {
 public:
  explicit Promoter(const PromotionInput& input);
  PromotionDecision run();

 private:
  // What people and environments say of promotions that ended: promote_ends.cc.
  void lift();
  void look_back();
  void reject_by(const KnownPromotion& rollback);

  // Releases, candidates, and which promotion it is: promote.cc.
  void wait_for_status();
  void make_releases();
  void advance(std::size_t environment);
  void adopt(std::size_t environment);
  const Release* candidate(std::size_t environment);
  bool is_free_for(std::size_t environment, const Release& release);
  bool replaces(const Release& candidate, const KnownPromotion& waiting) const;
  void create(std::size_t environment, const Release& release, PromotionAction action);
  std::string warn_if_frozen(std::size_t environment, const std::string& promotion, const Release& release);
  void found_in(std::size_t environment, KnownPromotion& promotion, const Release& release);
  KnownPromotion* choose(std::vector<KnownPromotion*> waiting);
  bool make_way(std::size_t environment, KnownPromotion& holder, KnownPromotion* waiting, const Release* candidate);

  // Into the environment: promote_waiting.cc.
  void advance_waiting(std::size_t environment, KnownPromotion& promotion, const KnownPromotion* holder);
  std::optional<Obstacle> obstacle_before(std::size_t environment, KnownPromotion& promotion, const KnownPromotion* holder);
  std::optional<Obstacle> direction(std::size_t environment, const KnownPromotion& promotion, const Release& release) const;
  std::optional<Obstacle> reach(std::size_t environment) const;
  std::optional<Obstacle> upstream(std::size_t environment, const KnownPromotion& promotion, const Release& release) const;
  void begin(std::size_t environment, KnownPromotion& promotion);

  // The change, and what the targets do with it: promote_running.cc.
  void advance_running(std::size_t environment, KnownPromotion& promotion);
  void withdraw(KnownPromotion& promotion, PromotionCause cause, std::string text);
  void bring(std::size_t environment, KnownPromotion& promotion);
  void advance_settling(std::size_t environment, KnownPromotion& promotion);
  void settle(std::size_t environment, KnownPromotion& promotion);
  bool is_ignored(std::size_t environment, const KnownPromotion& promotion);
  bool is_overtaken(std::size_t environment, KnownPromotion& promotion, const Release& release);
  bool is_given_up(std::size_t environment, KnownPromotion& promotion, const Release& release);
  Obstacle unready(std::size_t environment, const Release& release) const;

  /// Moves a promotion on; `since` moves with phase and reason.
  void set(KnownPromotion& promotion, Phase phase, std::string_view reason, std::string text,
           std::vector<Blocker> blockers = {});
  void wait(KnownPromotion& promotion, Obstacle obstacle);
  /// Ends it, or lets it wait, as the table says.
  void apply(KnownPromotion& promotion, Obstacle obstacle);
  void look_at(std::optional<Time> when);
  void effect(PromotionEffect::Kind kind, const KnownPromotion& promotion, std::string gate = "");
  Time seconds() const { return std::chrono::floor<std::chrono::seconds>(world_.now()); }
  const Environment& environment(std::size_t index) const { return world_.input.spec.environments[index]; }

  PromotionWorld world_;
  PromotionDecision decision_;
};

/// "prod-eu podinfo/podinfo".
std::string named(const TargetStatus& target);
/// A target's version is the release's.
bool is_at(const VersionStatus& version, const Release& release);

}  // namespace slipway::delivery::pipeline

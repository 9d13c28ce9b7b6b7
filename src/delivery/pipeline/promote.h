// What is promoted next: a pure function of a pipeline's spec and status, and of the objects in which its promotions, and what
// people say of them, are written down. Level-triggered: nothing is derived from events, so the same state gives the same
// decision whenever it is looked at. What always holds of decide():
//   - a release gets into an environment only when every environment before it was ready at that release on all targets, and
//     the gates and the soak time there have passed;
//   - never back to an older version unless a Promotion says rollback, never while held, frozen or suspended, never past a
//     gate that has not passed, and not again once it was rejected there (outcome.h) until that is lifted;
//   - one live promotion for each environment; a newer release takes the place of one whose change is not in.
// The controller makes the decision durable before it carries out its effects (promotion_controller.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "base/zone.h"
#include "delivery/family.h"
#include "delivery/pipeline/outcome.h"
#include "delivery/pipeline/own_kinds.h"
#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {

/// An object as far as decisions look at it.
template <class Spec>
struct Known {
  std::string name{};
  Spec spec{};
  Time created{};               // of the object; whole seconds
  kube::Revision revision = 0;  // orders objects of one second
};
struct KnownPromotion : Known<PromotionSpec> {
  PromotionStatus status{};
};

/// Everything is of one namespace and names the pipeline; Freezes may be of kFreezesForAll too, with that before their names.
struct PromotionInput {
  std::string ns{};
  std::string pipeline{};
  std::string uid{};
  std::int64_t generation = 0;
  std::int64_t prunings = 0;  // retention.h
  PipelineSpec spec{};
  PipelineStatus status{};
  std::vector<Known<ReleaseSpec>> releases{};
  std::vector<KnownPromotion> promotions{};
  std::vector<Known<ApprovalSpec>> approvals{};
  std::vector<Known<HoldSpec>> holds{};  // of the namespace
  std::vector<Known<FreezeSpec>> freezes{};
  /// By name; a window whose zone is not there cannot be read, and counts as closed or in force.
  std::map<std::string, Zone> zones{};
  /// Of the clusters of an environment's targets, by the environment's name.
  std::map<std::string, std::vector<std::map<std::string, std::string>>> cluster_labels{};
  /// Why an environment's targets are protected by another pipeline in a way in which this one does not protect them, by the
  /// environment's name.
  std::map<std::string, std::string> protected_elsewhere{};
  ActsAs acts_as = ActsAs::User;
  Now now{Time{}};
};

struct PromotionEffect {
  enum class Kind : std::uint8_t {
    Ask,       // the gate
    Bring,     // makes the change; again when that is not certain. Of a pull request: opens it, keeps it up to date, looks
    Look,      // of a pull request: only looks whether it is merged or closed
    Withdraw,  // of a pull request: closes it
  };
  Kind kind = Kind::Ask;
  std::string promotion{};
  std::string gate{};      // Ask: its name
  bool is_frozen = false;  // Look: the pull request must not be merged now

  bool operator==(const PromotionEffect&) const = default;
};

struct NewRelease {
  std::string name{};
  ReleaseSpec spec{};
};
struct NewPromotion {
  std::string name{};
  PromotionSpec spec{};
};
/// What came into an environment while it was frozen, without a change of ours.
struct FreezeWarning {
  std::string promotion{};
  std::string text{};
};
struct NextStatus {
  std::string name{};
  PromotionStatus status{};
};

struct PromotionDecision {
  /// In this order: statuses are written, then objects created, warnings told, then effects carried out.
  std::vector<NextStatus> statuses{};  // only those that change
  std::vector<NewRelease> releases{};
  std::vector<NewPromotion> promotions{};
  std::vector<FreezeWarning> warnings{};
  std::vector<PromotionEffect> effects{};
  std::optional<Time> next{};  // when to look again though nothing changes
};

PromotionDecision decide(const PromotionInput& input);

/// A target of a pipeline in that namespace, as a Freeze names it.
FrozenTarget frozen_target(const Target& target, std::string_view ns);
/// "KIND/NAME", as a Hold names it.
std::string app_text(const AppRef& app);
/// Whether the Freeze names the environment of the pipeline; a Freeze without names does.
bool is_named(const FreezeSpec& freeze, const std::string& pipeline, const std::string& environment);
/// Whether a cluster with these labels is meant by `clusterLabels`.
bool is_in_labelled_cluster(const FreezeSpec& freeze, const std::map<std::string, std::string>& labels);

/// commit, pull-request, notification or none: how changes get into the environment.
std::string strategy_of(const PipelineSpec& spec, const Environment& environment);
/// What an environment says of its promotions, or else the pipeline.
Promotion promotion_of(const PipelineSpec& spec, const Environment& environment);
std::optional<PullRequest> pull_request_of(const Promotion& promotion);
/// Names of the environments before this one.
std::vector<std::string> upstream_of(const PipelineSpec& spec, std::size_t environment);

bool is_live(const PromotionStatus& status);
/// When a gate is asked: "before" it gets in, or "after" all targets are ready.
std::string_view moment_of(const gate::GateSpec& gate);

}  // namespace slipway::delivery::pipeline

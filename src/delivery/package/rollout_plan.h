// A PackageRollout as a pure function: what the user wants, what is recorded and how the targets stand go in; what to record,
// what to do and what is waited for come out. It approves proposals, nothing else, so what it may never do can be proven.
//
// A target is a package that follows the upstream revision. All targets have one order, pins first and then by the hash of
// REPOSITORY/PACKAGE, the same for every revision. Step k allows a_k = max(1, ceil(percent_k * N / 100)) of N targets:
//   - a target is approved only if it is among the first a_k of the order, and
//   - only if no more than a_k are approved after that, however they came to be approved.
// So a late joiner with a small hash waits when its place was taken. Targets that are not proposed hold no other up, unless a
// step could approve nothing of its own part. A step is over when what is approved is healthy (the cluster itself reports the
// commit), has been for the soak, and its gates have passed; no data is no pass. A stop, a back-out or a newer upstream
// revision ends all approving; only a greater spec.attempt goes on after a stop.
//
// The rule for crashes is wave's: the record is made durable when it is urgent, then the effects are carried out, each as often
// as it likes. An approval is decided once, recorded as in flight, and counts as done from then on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wall_steps.h"
#include "delivery/gate/gate.h"
#include "delivery/package/policy_spec.h"
#include "delivery/package/rollout_status.h"

namespace slipway::delivery::package {

enum class TargetState : std::uint8_t {
  Waiting,   // no revision yet, or a draft
  Held,      // proposed, and policies do not agree yet
  Proposed,  //
  Approved,  // published; nothing is known of its cluster yet
  Synced,    // the cluster reports the commit
  Healthy,   // and that it is well
  Failed,
};
/// How far the way back is.
enum class BackOutState : std::uint8_t { None, Waiting, Proposed, Done };

struct TargetView {
  std::string id{};        // "edge/basens"
  std::string revision{};  // that follows the upstream revision; empty: none yet
  TargetState state = TargetState::Waiting;
  std::string text{};  // why it waits or has failed
  BackOutState back_out = BackOutState::None;

  bool is_approved() const { return state >= TargetState::Approved; }
};

struct RolloutWorld {
  Now now = Time{};
  std::vector<TargetView> targets{};
  std::map<std::string, gate::Verdict> answers{};  // of gates, by gate_key()
  std::int64_t newest_upstream = 0;                // the highest published revision upstream
  std::string no_upstream{};                       // why there is nothing to be followed; empty: there is
};

struct RolloutEffect {
  enum class Kind : std::uint8_t {
    Approve,         // the target's revision
    ReturnToDraft,   // its proposal
    BackOut,         // draft a new revision with the content from before
    ApproveBackOut,  //
    Ask,             // the gate of the key `target`
  };
  Kind kind;
  std::string target{};
  std::string revision{};

  bool operator==(const RolloutEffect&) const = default;
};

struct RolloutDecision {
  RolloutRecord record{};
  bool is_urgent = false;  // the record must be durable before the effects
  std::vector<RolloutEffect> effects{};
  std::vector<std::string> waits{};
  std::optional<Time> wake{};
};
/// "1/0/errors": a gate is asked anew in each attempt and step.
std::string gate_key(std::int64_t attempt, std::int64_t step, std::string_view gate);
/// REQUIRES: check() found nothing.
RolloutDecision decide(const PackageRolloutSpec& spec, const RolloutRecord& record, const RolloutWorld& world);

/// What is wrong with a spec beyond its schema.
std::vector<Cause> check(const PackageRolloutSpec& spec);
/// The ids in the order of the rollout, without excluded ones.
std::vector<std::string> cohort_order(const PackageRolloutSpec& spec, const std::vector<TargetView>& targets);
/// How many of `count` targets a step allows; 0 only of 0.
std::int64_t allowed(std::int64_t percent, std::int64_t count);
/// The steps with a last one of 100 percent.
std::vector<RolloutStep> steps_of(const PackageRolloutSpec& spec);

}  // namespace slipway::delivery::package

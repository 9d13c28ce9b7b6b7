// Why a promotion is where it is: one table, cause → outcome. A cause either says "not yet", and the promotion goes on by
// itself once it is gone; or it rejects the release for the environment, which is remembered until a person lifts it; or the
// promotion is superseded, for there is nothing left for it to do. Every reason that a Promotion's status gives is a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slipway::delivery::pipeline {

enum class Outcome : std::uint8_t {
  NotYet,      // waits, and goes on by itself
  Rejected,    // remembered per environment and release until lifted
  Superseded,  // over; the release may come again
};

enum class PromotionCause : std::uint8_t {
  ReleaseNotFound,
  EnvironmentNotFound,
  StatusBehind,
  Suspended,
  Held,
  Frozen,
  ReleaseRejected,
  UpstreamNotReady,
  UpstreamNotPassed,
  AnotherPromotion,
  OrderUnknown,
  ApprovalMissing,
  ApproverUnknown,
  WindowClosed,
  GatePending,
  GateUnknown,
  DeadlineHolds,
  Soaking,
  ChangePending,
  SourceFailed,
  PushFailed,
  ForgeFailed,
  AccessDenied,
  StrategyNotImplemented,
  PullRequestOpen,
  AwaitsChange,
  Withdrawing,
  TargetNotReady,
  TargetUnreachable,
  TargetForbidden,
  TargetAbsent,
  TargetSuspended,
  TargetMixed,
  AgentGaveUpBefore,
  GateFailed,
  DeadlineFailed,
  RefusedByPerson,
  PullRequestClosed,
  RolledBackByAgent,
  FailedByAgent,
  RolledBack,
  ReplacedByLower,
  NewerRelease,
  Overtaken,
  Drifted,
  GoneBefore,
};

struct CauseRow {
  PromotionCause cause;
  std::string_view reason;  // status.reason
  Outcome outcome;
  std::string_view text;  // for people: what it means and what to do
};

inline constexpr CauseRow kCauses[] = {
    {PromotionCause::ReleaseNotFound, "ReleaseNotFound", Outcome::NotYet, "there is no Release of that name"},
    {PromotionCause::EnvironmentNotFound, "EnvironmentNotFound", Outcome::NotYet, "the pipeline has no such environment"},
    {PromotionCause::StatusBehind, "StatusBehind", Outcome::NotYet,
     "the pipeline was changed, and its status is not up to date"},
    {PromotionCause::Suspended, "Suspended", Outcome::NotYet, "spec.suspend of the pipeline"},
    {PromotionCause::Held, "Held", Outcome::NotYet, "a Hold on the environment"},
    {PromotionCause::Frozen, "Frozen", Outcome::NotYet, "a Freeze is in force, or its window cannot be read"},
    {PromotionCause::ReleaseRejected, "ReleaseRejected", Outcome::NotYet,
     "the release was rejected here before: an Approval with decision lift lets it be tried again"},
    {PromotionCause::UpstreamNotReady, "UpstreamNotReady", Outcome::NotYet,
     "an environment before this one is not ready at the release on all its targets"},
    {PromotionCause::UpstreamNotPassed, "UpstreamNotPassed", Outcome::NotYet,
     "gates or the soak time of an environment before this one have not passed"},
    {PromotionCause::AnotherPromotion, "AnotherPromotion", Outcome::NotYet, "another promotion into the environment runs"},
    {PromotionCause::OrderUnknown, "OrderUnknown", Outcome::NotYet,
     "nothing says whether the release is newer than what runs: an Approval says so"},
    {PromotionCause::ApprovalMissing, "ApprovalMissing", Outcome::NotYet, "not enough people have approved"},
    {PromotionCause::ApproverUnknown, "ApproverUnknown", Outcome::NotYet,
     "who approved, or who the author is, is not known for certain"},
    {PromotionCause::WindowClosed, "WindowClosed", Outcome::NotYet, "a window of time is closed"},
    {PromotionCause::GatePending, "GatePending", Outcome::NotYet, "a gate has not decided"},
    {PromotionCause::GateUnknown, "GateUnknown", Outcome::NotYet, "a gate is out of reach or has no data"},
    {PromotionCause::DeadlineHolds, "DeadlineHolds", Outcome::NotYet, "a gate's deadline has come, and it holds"},
    {PromotionCause::Soaking, "Soaking", Outcome::NotYet, "the environment's soak time is not over"},
    {PromotionCause::ChangePending, "ChangePending", Outcome::NotYet, "the change is about to be made"},
    {PromotionCause::SourceFailed, "SourceFailed", Outcome::NotYet, "the repository could not be read; it is tried again"},
    {PromotionCause::PushFailed, "PushFailed", Outcome::NotYet, "the change could not be pushed; it is tried again"},
    {PromotionCause::ForgeFailed, "ForgeFailed", Outcome::NotYet, "the forge did not answer, or refused; it is tried again"},
    {PromotionCause::AccessDenied, "AccessDenied", Outcome::NotYet, "the Secret is missing or refused; it is tried again"},
    {PromotionCause::StrategyNotImplemented, "StrategyNotImplemented", Outcome::NotYet,
     "this strategy is not implemented here: make the change by hand, or use another one"},
    {PromotionCause::PullRequestOpen, "PullRequestOpen", Outcome::NotYet, "the pull request has not been merged"},
    {PromotionCause::AwaitsChange, "AwaitsChange", Outcome::NotYet, "somebody has to make the change"},
    {PromotionCause::Withdrawing, "Withdrawing", Outcome::NotYet, "the proposed change is being withdrawn"},
    {PromotionCause::TargetNotReady, "TargetNotReady", Outcome::NotYet, "targets are not ready at the release"},
    {PromotionCause::TargetUnreachable, "TargetUnreachable", Outcome::NotYet,
     "the cluster of a target does not answer, or was not seen lately"},
    {PromotionCause::TargetForbidden, "TargetForbidden", Outcome::NotYet, "Slipway may not look at a target"},
    {PromotionCause::TargetAbsent, "TargetAbsent", Outcome::NotYet, "a target has no such application"},
    {PromotionCause::TargetSuspended, "TargetSuspended", Outcome::NotYet, "the agent of a target is suspended"},
    {PromotionCause::TargetMixed, "TargetMixed", Outcome::NotYet, "what runs on a target is no version as a whole"},
    {PromotionCause::AgentGaveUpBefore, "AgentGaveUpBefore", Outcome::NotYet,
     "the agent had given the release up before this attempt: have it try again"},
    {PromotionCause::GateFailed, "GateFailed", Outcome::Rejected, "a gate failed"},
    {PromotionCause::DeadlineFailed, "DeadlineFailed", Outcome::Rejected, "a gate did not pass by its deadline"},
    {PromotionCause::RefusedByPerson, "RefusedByPerson", Outcome::Rejected, "a person said no"},
    {PromotionCause::PullRequestClosed, "PullRequestClosed", Outcome::Rejected, "the pull request was closed without a merge"},
    {PromotionCause::RolledBackByAgent, "RolledBackByAgent", Outcome::Rejected, "the agent went back to the version before"},
    {PromotionCause::FailedByAgent, "FailedByAgent", Outcome::Rejected, "the agent has failed to bring it up"},
    {PromotionCause::RolledBack, "RolledBack", Outcome::Rejected, "a person rolled the environment back"},
    {PromotionCause::ReplacedByLower, "ReplacedByLower", Outcome::Rejected, "all targets went back to a lower version"},
    {PromotionCause::NewerRelease, "NewerRelease", Outcome::Superseded, "a newer promotion came before it began"},
    {PromotionCause::Overtaken, "Overtaken", Outcome::Superseded, "the environment has gone on without it"},
    {PromotionCause::Drifted, "Drifted", Outcome::Superseded,
     "the same version with other content runs: that is drift, and no promotion"},
    {PromotionCause::GoneBefore, "GoneBefore", Outcome::Superseded, "what was seen there is gone"},
};

constexpr const CauseRow& row_of(PromotionCause cause) {
  for (const CauseRow& row : kCauses) {
    if (row.cause == cause) return row;
  }
  return kCauses[0];
}

/// Nothing for a text that is no reason of the table.
constexpr std::optional<PromotionCause> cause_named(std::string_view reason) {
  for (const CauseRow& row : kCauses) {
    if (row.reason == reason) return row.cause;
  }
  return std::nullopt;
}

}  // namespace slipway::delivery::pipeline

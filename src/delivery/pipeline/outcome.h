// Why a promotion is where it is: one table, cause → outcome. A cause either says "not yet", and the promotion goes on by
// itself once it is gone; or it rejects the release for the environment, which is remembered until a person lifts it; or the
// promotion is superseded, for there is nothing left for it to do. Every reason that a Promotion's status gives is a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slipway::delivery::pipeline {

enum class CauseOutcome : std::uint8_t {
  NotYet,      // waits, and goes on by itself
  Rejected,    // remembered per environment and release until lifted
  Superseded,  // over; the release may come again
};

/// What each means, and what to do about it, is the text of its row in kCauses.
enum class PromotionCause : std::uint8_t {
  ReleaseNotFound,
  EnvironmentNotFound,
  StatusBehind,
  Suspended,
  Held,
  Frozen,
  ProtectedElsewhere,
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
  AuthorLacksRight,
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
  CauseOutcome outcome;
  std::string_view text;  // for people: what it means and what to do
};

inline constexpr CauseRow kCauses[] = {
    {PromotionCause::ReleaseNotFound, "ReleaseNotFound", CauseOutcome::NotYet, "there is no Release of that name"},
    {PromotionCause::EnvironmentNotFound, "EnvironmentNotFound", CauseOutcome::NotYet, "the pipeline has no such environment"},
    {PromotionCause::StatusBehind, "StatusBehind", CauseOutcome::NotYet,
     "the pipeline was changed, and its status is not up to date"},
    {PromotionCause::Suspended, "Suspended", CauseOutcome::NotYet, "spec.suspend of the pipeline"},
    {PromotionCause::Held, "Held", CauseOutcome::NotYet, "a Hold on the environment"},
    {PromotionCause::Frozen, "Frozen", CauseOutcome::NotYet, "a Freeze is in force, or its window cannot be read"},
    {PromotionCause::ProtectedElsewhere, "ProtectedElsewhere", CauseOutcome::NotYet,
     "another pipeline asks for an approval before it changes a target of the environment, and this one does not"},
    {PromotionCause::ReleaseRejected, "ReleaseRejected", CauseOutcome::NotYet,
     "the release was rejected here before: an Approval with decision lift lets it be tried again"},
    {PromotionCause::UpstreamNotReady, "UpstreamNotReady", CauseOutcome::NotYet,
     "an environment before this one is not ready at the release on all its targets"},
    {PromotionCause::UpstreamNotPassed, "UpstreamNotPassed", CauseOutcome::NotYet,
     "gates or the soak time of an environment before this one have not passed"},
    {PromotionCause::AnotherPromotion, "AnotherPromotion", CauseOutcome::NotYet, "another promotion into the environment runs"},
    {PromotionCause::OrderUnknown, "OrderUnknown", CauseOutcome::NotYet,
     "nothing says whether the release is newer than what runs: an Approval says so"},
    {PromotionCause::ApprovalMissing, "ApprovalMissing", CauseOutcome::NotYet, "not enough people have approved"},
    {PromotionCause::ApproverUnknown, "ApproverUnknown", CauseOutcome::NotYet,
     "who approved, or who the author is, is not known for certain"},
    {PromotionCause::WindowClosed, "WindowClosed", CauseOutcome::NotYet, "a window of time is closed"},
    {PromotionCause::GatePending, "GatePending", CauseOutcome::NotYet, "a gate has not decided"},
    {PromotionCause::GateUnknown, "GateUnknown", CauseOutcome::NotYet, "a gate is out of reach or has no data"},
    {PromotionCause::DeadlineHolds, "DeadlineHolds", CauseOutcome::NotYet, "a gate's deadline has come, and it holds"},
    {PromotionCause::Soaking, "Soaking", CauseOutcome::NotYet, "the environment's soak time is not over"},
    {PromotionCause::ChangePending, "ChangePending", CauseOutcome::NotYet, "the change is about to be made"},
    {PromotionCause::SourceFailed, "SourceFailed", CauseOutcome::NotYet, "the repository could not be read; it is tried again"},
    {PromotionCause::PushFailed, "PushFailed", CauseOutcome::NotYet, "the change could not be pushed; it is tried again"},
    {PromotionCause::ForgeFailed, "ForgeFailed", CauseOutcome::NotYet,
     "the forge did not answer, or refused; it is tried again"},
    {PromotionCause::AccessDenied, "AccessDenied", CauseOutcome::NotYet, "the Secret is missing or refused; it is tried again"},
    {PromotionCause::AuthorLacksRight, "AuthorLacksRight", CauseOutcome::NotYet,
     "the user who last wrote the pipeline lacks a right; it goes on within a minute of the right's return"},
    {PromotionCause::StrategyNotImplemented, "StrategyNotImplemented", CauseOutcome::NotYet,
     "this strategy is not implemented here: make the change by hand, or use another one"},
    {PromotionCause::PullRequestOpen, "PullRequestOpen", CauseOutcome::NotYet, "the pull request has not been merged"},
    {PromotionCause::AwaitsChange, "AwaitsChange", CauseOutcome::NotYet, "somebody has to make the change"},
    {PromotionCause::Withdrawing, "Withdrawing", CauseOutcome::NotYet, "the proposed change is being withdrawn"},
    {PromotionCause::TargetNotReady, "TargetNotReady", CauseOutcome::NotYet, "targets are not ready at the release"},
    {PromotionCause::TargetUnreachable, "TargetUnreachable", CauseOutcome::NotYet,
     "the cluster of a target does not answer, or was not seen lately"},
    {PromotionCause::TargetForbidden, "TargetForbidden", CauseOutcome::NotYet, "Slipway may not look at a target"},
    {PromotionCause::TargetAbsent, "TargetAbsent", CauseOutcome::NotYet, "a target has no such application"},
    {PromotionCause::TargetSuspended, "TargetSuspended", CauseOutcome::NotYet, "the agent of a target is suspended"},
    {PromotionCause::TargetMixed, "TargetMixed", CauseOutcome::NotYet, "what runs on a target is no version as a whole"},
    {PromotionCause::AgentGaveUpBefore, "AgentGaveUpBefore", CauseOutcome::NotYet,
     "the agent had given the release up before this attempt: have it try again"},
    {PromotionCause::GateFailed, "GateFailed", CauseOutcome::Rejected, "a gate failed"},
    {PromotionCause::DeadlineFailed, "DeadlineFailed", CauseOutcome::Rejected, "a gate did not pass by its deadline"},
    {PromotionCause::RefusedByPerson, "RefusedByPerson", CauseOutcome::Rejected, "a person said no"},
    {PromotionCause::PullRequestClosed, "PullRequestClosed", CauseOutcome::Rejected,
     "the pull request was closed without a merge"},
    {PromotionCause::RolledBackByAgent, "RolledBackByAgent", CauseOutcome::Rejected,
     "the agent went back to the version before"},
    {PromotionCause::FailedByAgent, "FailedByAgent", CauseOutcome::Rejected, "the agent has failed to bring it up"},
    {PromotionCause::RolledBack, "RolledBack", CauseOutcome::Rejected, "a person rolled the environment back"},
    {PromotionCause::ReplacedByLower, "ReplacedByLower", CauseOutcome::Rejected, "all targets went back to a lower version"},
    {PromotionCause::NewerRelease, "NewerRelease", CauseOutcome::Superseded, "a newer promotion came before it began"},
    {PromotionCause::Overtaken, "Overtaken", CauseOutcome::Superseded, "the environment has gone on without it"},
    {PromotionCause::Drifted, "Drifted", CauseOutcome::Superseded,
     "the same version with other content runs: that is drift, and no promotion"},
    {PromotionCause::GoneBefore, "GoneBefore", CauseOutcome::Superseded, "what was seen there is gone"},
};

/// Every cause has a row.
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

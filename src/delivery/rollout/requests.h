// What people ask of a rollout that is under way, beside its spec. A request is an annotation whose value is an id of its own:
// the controller heeds an id once, and records it in status.heeded. An approval (gate/approval.h) is an entry of
// status.approvals, written by a patch of the status (so that a Git repository that holds the rollout knows nothing of it):
// admission fills in who gave it and when, and refuses it without the verb `approve` on the rollout. It counts for one gate, by
// its name, of one batch of one attempt; those of earlier attempts are dropped when an attempt begins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "delivery/family/handover.h"
#include "delivery/family/identity.h"
#include "json/codec.h"

namespace slipway::delivery::rollout {

/// Fail now, under onFailure.
inline constexpr std::string_view kAbortRequest = "rollout.slipway.dev/abort";
/// Fail now, and undo whatever onFailure says.
inline constexpr std::string_view kRevertRequest = "rollout.slipway.dev/revert";
/// A new attempt at the same target; pods that are new stay. People ask it of a failed rollout only.
using delivery::kRetryRequest;
/// All gates of this attempt but approvals count as passed from now on, with the text "skipped". Needs the verb `approve`.
inline constexpr std::string_view kSkipGatesRequest = "rollout.slipway.dev/promote";

/// The author: the user who last wrote what is rolled out, and that user's groups. Admission stamps both. The rollout reads and
/// writes as this user; ApprovalGate::by_author compares with it.
inline constexpr IdentityAnnotations kAuthor{.user = "rollout.slipway.dev/author",
                                             .groups = "rollout.slipway.dev/author-groups"};
/// Of approvals, on the rollout's resource.
inline constexpr std::string_view kApproveVerb = "approve";
/// Who approves through the process that is the cluster itself, as `slipway … --data-dir` does.
inline constexpr std::string_view kLocalUser = "local";
/// Entries of status.approvals; a write of more is refused.
inline constexpr std::size_t kMaxApprovals = 100;

/// The requests that were carried out: status.heeded.
struct Heeded {
  std::string abort;
  std::string revert;
  std::string retry;
  std::string skip_gates;
  std::string yield;

  static void describe(auto& d) {
    d.doc("Ids of the requests that were carried out.");
    d.field("abort", &Heeded::abort, "Of rollout.slipway.dev/abort.");
    d.field("revert", &Heeded::revert, "Of rollout.slipway.dev/revert.");
    d.field("retry", &Heeded::retry, "Of rollout.slipway.dev/retry.");
    d.field("promote", &Heeded::skip_gates, "Of rollout.slipway.dev/promote.");
    d.field("yield", &Heeded::yield, "Of rollout.slipway.dev/yield.");
  }
  bool operator==(const Heeded&) const = default;
};

}  // namespace slipway::delivery::rollout

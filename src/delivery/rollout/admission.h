// What may be written of the rollout kinds, and what is filled in. The rules of updates are those of the rollout design of
// KubeVela (RFC "OAM Rollout Controller") and of its webhooks (pkg/webhook/common/rollout of v1.2.8), which left most of them
// open; each refusal names its rule. Pure; where no admission stands in the way the controller calls validate() itself, with a
// null `old`, and turns what it says into a condition.
#pragma once

#include <vector>

#include "kube/admission.h"

namespace slipway::delivery::rollout {

/// The defaults of upstream's webhook.
kube::Object mutate(const kube::Object& rollout, const kube::Object& old);
/// Every violation: of the rules for a spec by itself, and of those for changes.
std::vector<Cause> validate(const kube::Object& rollout, const kube::Object& old);

/// What a spec must hold by itself (check.cc).
std::vector<Cause> check_spec(const kube::Object& rollout);
/// What a change of the spec must hold (update_rules.cc):
///   PartitionOnlyGrows       while it runs the partition grows or stays, and absent means all batches;
///   ReleasedBatchesAreFixed  while it runs, batches up to the greater of partition and current batch stay as they are, but for
///                            their canaryMetric and the deadlines of their gates;
///   OnlyWithNewTarget        while it runs, everything else changes only together with a new target, which begins a new
///                            attempt; of a pure scale a new targetSize is a new target;
///   FinishedNeedsNewTarget   after its end the plan changes only together with a new target, source or targetSize.
/// Always free: paused, revertOnDelete, canaryMetric; while it runs also onFailure, deadlines, notifications and what lies in
/// later batches.
std::vector<Cause> check_update(const kube::Object& rollout, const kube::Object& old);

/// Stamps kAuthor with the user who wrote what is rolled out. A pause or a greater partition makes no user the author.
kube::Object stamp_author(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker);
/// To skip gates one needs the verb `approve`.
std::vector<Cause> check_asker(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker);
/// Stamps new entries of status.approvals with user, groups and time. Forbidden without the verb `approve`; Conflict for
/// another attempt than the present one; Invalid for a gate that is no approval.
Result<kube::Object> stamp_approvals(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker);
/// Users write status.approvals, stamped as above, and status.pause; the rest of a status is the controller's
/// (protected_status.h).
Result<kube::Object> stamp_status(const kube::Object& rollout, const kube::Object& old, const kube::Asker& asker);
/// Refuses a rollout over a workload that another rollout works on.
std::vector<Cause> check_claims(const kube::Object& rollout, const kube::Object& old, const kube::FindObject& find);

std::vector<kube::AdmissionRow> admission_rows();

}  // namespace slipway::delivery::rollout

#include "delivery/package/approval_controller.h"

#include <algorithm>

#include "control/object_writes.h"
#include "delivery/package/kind.h"
#include "delivery/package/revision_writes.h"
#include "delivery/package/rollout_world.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;

constexpr const char* kApprovalManager = "slipway-package-approval";

bool is_proposal(const RevisionRecord& record) {
  return !record.is_publishing() &&
         (record.lifecycle == Lifecycle::Proposed || record.lifecycle == Lifecycle::DeletionProposed);
}

/// What was decided about the revision as it was looked at; one that has moved on is looked at again.
RevisionChange moved(const StoredRecord& seen, Lifecycle to, const ApproveDecision& decision) {
  return [from = seen.record.lifecycle, digest = seen.record.digest, to, decision](const kube::Object& revision) {
    const bool is_same = revision["spec"]["lifecycle"].as_string() == json::enum_name(from) &&
                         revision["status"]["digest"].as_string() == digest;
    return is_same ? with_reasons(with_lifecycle(revision, to), decision.policies, decision.people) : revision;
  };
}

}  // namespace

ApprovalController::ApprovalController(const ControllerContext& context, std::shared_ptr<RecordIndex> records)
    : records_(records), policies_(context.env, std::move(records)), wall_(context.env.clock) {}

void ApprovalController::watch(control::Watches& watches) {
  records_->attach(watches);
  watches.changes(kRecords, [](const Value&, const Value& after) {
    const std::string_view lifecycle = after["spec"]["lifecycle"].as_string();
    const bool is_asked = lifecycle == "Proposed" || lifecycle == "DeletionProposed";
    return is_asked ? std::vector{kube::key_of(after)} : std::vector<kube::ObjectKey>{};
  });
  policies_.attach(watches, [this](std::string_view ns) { return proposals_in(ns); });
  repositories_ = &watches.cache(kRepositories);
  rollouts_ = &watches.changes(kRollouts, [this](const Value& before, const Value& after) {
    const bool is_same = !before.is_null() && !after.is_null() && before["spec"] == after["spec"];
    return is_same ? std::vector<kube::ObjectKey>{} : proposals_in(kube::ns(after.is_null() ? before : after));
  });
}

std::vector<kube::ObjectKey> ApprovalController::proposals_in(std::string_view ns) const {
  std::vector<kube::ObjectKey> keys;
  for (const kube::ObjectKey& key : records_->proposals()) {
    const RecordIndex::Known known = key.ns == ns ? records_->find(key) : nullptr;
    if (known != nullptr && is_proposal(known->record)) keys.push_back(key);
  }
  return keys;
}

bool ApprovalController::is_in_rollout(const StoredRecord& revision) const {
  for (const auto& [key, object] : rollouts_->objects(revision.key().ns)) {
    if (kube::is_deleting(object)) continue;
    const auto spec = json::decode<PackageRolloutSpec>(object["spec"], "spec", {.allow_unknown = true});
    if (!spec) continue;
    const kube::Object repository = repositories_->get({key.ns, spec->upstream.repo});
    if (is_about(*spec, repository, revision)) return true;
  }
  return false;
}

Task<Outcome> ApprovalController::reconcile(control::Reconcile& run) {
  const RecordIndex::Known known = records_->find(run.key);
  if (known == nullptr || !is_proposal(known->record) || is_in_rollout(*known)) co_return Outcome::settled();
  const Now now = wall_.now();
  const ApproveDecision decision = policies_.decide(*known, now);
  const bool is_deletion = known->record.lifecycle == Lifecycle::DeletionProposed;
  Result<void> done;
  switch (decision.kind) {
    case ApproveDecision::Kind::NotAsked:
      co_return Outcome::settled();
    case ApproveDecision::Kind::Waits:
      if (!decision.wake) co_return Outcome::settled();
      co_return Outcome::retries_after(std::max<Duration>(*decision.wake - now.time(), std::chrono::milliseconds{1}));
    case ApproveDecision::Kind::Reject:
      done = co_await approve_revision(run.client, run.key,
                                       moved(*known, is_deletion ? Lifecycle::Published : Lifecycle::Draft, decision),
                                       kApprovalManager);
      break;
    case ApproveDecision::Kind::Approve:
      if (is_deletion) {
        done = co_await remove_revision(run.client, run.key);
      } else {
        done = co_await approve_revision(run.client, run.key, moved(*known, Lifecycle::Published, decision), kApprovalManager);
      }
      break;
  }
  co_return done ? Outcome::settled() : Outcome::failed(std::move(done).error());
}

PolicyController::PolicyController(const ControllerContext& context, std::shared_ptr<RecordIndex> records)
    : env_(context.env), policies_(context.env, std::move(records)) {}

void PolicyController::watch(control::Watches& watches) { objects_ = &watches.primary(kApprovalPolicies); }

Task<Outcome> PolicyController::reconcile(control::Reconcile& run) {
  const kube::Object policy = objects_->get(run.key);
  if (policy.is_null() || kube::is_deleting(policy)) co_return Outcome::settled();
  const std::string fault = policies_.fault(policy);
  kube::Condition ready{"Ready", "True", "Valid", "the policy is followed"};
  if (!fault.empty()) ready = {"Ready", "False", "Invalid", fault + ": nothing is approved by it"};
  const Value conditions = kube::set_condition(policy["status"]["conditions"], ready, env_.clock.now());
  auto told = co_await control::write_status(run.client, kApprovalPolicies, policy,
                                             policy["status"].with("conditions", conditions), kApprovalManager);
  if (!told && told.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(told).error());
  co_return Outcome::settled();
}

}  // namespace slipway::delivery::package

#include "cluster/replica_set.h"

#include <algorithm>

#include "cluster/adoption.h"
#include "cluster/names.h"
#include "cluster/pod_facts.h"
#include "cluster/replica_set_plan.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kReplicaSetManager = "slipway-replicaset";
/// The cache of pods is told when it has caught up; this is for when it is not.
constexpr Duration kReplicaCacheIsOld = std::chrono::seconds{1};

/// The numbers that were used are written with the status, in one write.
Task<Result<void>> write_status(client::Client& client, kube::Object set, json::Value status, PodNumbers numbers) {
  const bool has_numbers = numbers.next != PodNumbers::of(set).next;
  if (status == set["status"] && !has_numbers) co_return Result<void>{};
  kube::Object next = set.with("status", std::move(status));
  if (has_numbers) next = next.with_path({"metadata", "annotations", kPodNumbers}, numbers.to_string());
  const auto written = co_await client::update_status(client, kReplicaSets, std::move(next), kReplicaSetManager);
  if (!written && written.error().reason != Reason::NotFound) co_return fail(written.error());
  co_return Result<void>{};
}

}  // namespace

void ReplicaSetController::watch(control::Watches& watches) {
  sets_ = &watches.primary(kReplicaSets);
  pods_ = &watches.also(kPods, [this](const kube::Object& pod) { return claimants(*sets_, "apps", "ReplicaSet", pod); });
  pods_->add_index("replica-set", claim_keys);
}

std::vector<kube::Object> ReplicaSetController::candidates(const kube::Object& set) const {
  std::vector<kube::Object> found = claim_candidates(*pods_, "replica-set", set);
  std::erase_if(found, [](const kube::Object& pod) { return kube::controller_of(pod).is_null() && is_terminal_pod(pod); });
  return found;
}

Task<Outcome> ReplicaSetController::reconcile(control::Reconcile& run) {
  const kube::Object set = sets_->get(run.key);
  if (set.is_null()) {
    known_.forget(run.key);
    co_return Outcome::settled();
  }
  Claim claim = sort_claim(set, candidates(set));
  if (claim.needs_writes()) {
    const auto settled = co_await settle_claim(run.client, kReplicaSets, set, kPods, std::move(claim), kReplicaSetManager);
    co_return settled ? Outcome::retries_after(Duration{0}) : Outcome::failed(settled.error());
  }
  co_return co_await carry_out(run.client, set, std::move(claim.own));
}

/// The status is counted from what is there before the effects; a plan that makes or deletes pods is followed by another look,
/// so the count is written once for both.
Task<Outcome> ReplicaSetController::carry_out(client::Client& client, kube::Object set, std::vector<kube::Object> pods) {
  const std::string ns(kube::ns(set));
  const auto is_taken = [this, ns](const std::string& name) { return pods_->contains({ns, name}); };
  PodNumbers numbers = known_.of(set, pods.size(), is_taken);
  for (const kube::Object& pod : pods) numbers.seen = std::max(numbers.seen, kube::revision(pod));
  ReplicaSetPlan plan = plan_replica_set(set, pods, is_taken, numbers.next, wall_.now());
  // A cache that does not know all pods of the numbers that were used would miss some, and make too many.
  if (!plan.create.empty() && pods_->revision() < PodNumbers::of(set).seen)
    co_return Outcome::retries_after(kReplicaCacheIsOld);
  const bool has_effects = !plan.create.empty() || !plan.remove.empty();
  const bool is_creation = !plan.create.empty();
  auto done = co_await remove_pods(client, std::move(plan.remove));
  std::vector<kube::Object> made;
  for (const std::string& name : plan.create) made.push_back(make_replica_pod(set, name));
  if (done) done = co_await create_slowly(env_, client, kPods, std::move(made), kReplicaSetManager);
  // After a failure the same numbers are tried again: a pod may have been made though no answer came.
  if (done) known_.of(set, pods.size(), is_taken).next = plan.next_number;
  if (has_effects && done) co_return Outcome::retries_after(Duration{0});

  std::optional<ReplicaFailure> failure;
  // A name that is taken or a write that was overtaken says only that the cache is old.
  const bool is_old = !done && (done.error().reason == Reason::AlreadyExists || done.error().reason == Reason::Conflict);
  if (!done && !is_old) failure = ReplicaFailure{is_creation, done.error().message};
  if (!is_old) {
    const auto written = co_await write_status(client, set, replica_set_status(set, pods, failure, wall_.now()), numbers);
    if (!written) co_return Outcome::failed(written.error());
  }
  if (!done) co_return Outcome::failed(done.error());
  co_return plan.look_again ? Outcome::retries_after(*plan.look_again) : Outcome::settled();
}

Task<Result<void>> ReplicaSetController::remove_pods(client::Client& client, std::vector<kube::Object> pods) {
  Writes writes(env_);
  for (const kube::Object& pod : pods) writes.add(remove_exactly(client, kPods, pod));
  co_return co_await writes.join();
}

}  // namespace slipway::cluster

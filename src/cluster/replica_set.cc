#include "cluster/replica_set.h"

#include <algorithm>

#include "cluster/adoption.h"
#include "cluster/names.h"
#include "cluster/replica_set_plan.h"
#include "cluster/writes.h"
#include "kube/selector.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kManager = "slipway-replicaset";

Task<Result<void>> create_pod(client::Client& client, kube::Object pod) {
  const auto made = co_await client::create(client, kPods, std::move(pod), kManager);
  if (!made) co_return fail(made.error());
  co_return Result<void>{};
}

}  // namespace

void ReplicaSetController::watch(control::Watches& watches) {
  sets_ = &watches.primary(kReplicaSets);
  pods_ = &watches.also(kPods, [this](const kube::Object& pod) { return sets_of(pod); });
  pods_->add_index("replica-set", claim_keys);
}

/// The set that controls the pod, or, for one without a controller, those that may take it.
std::vector<kube::ObjectKey> ReplicaSetController::sets_of(const kube::Object& pod) const {
  std::vector<kube::ObjectKey> keys;
  const json::Value& owner = kube::controller_of(pod);
  if (!owner.is_null()) {
    if (kube::refers_to(owner, "apps", "ReplicaSet")) keys.push_back({std::string(kube::ns(pod)), owner["name"].str()});
    return keys;
  }
  const auto& sets = sets_->objects();
  for (auto at = sets.lower_bound({std::string(kube::ns(pod)), ""}); at != sets.end() && at->first.ns == kube::ns(pod); ++at) {
    const auto selector = kube::LabelSelector::from_object(at->second["spec"]["selector"]);
    if (selector && selector->matches(pod["metadata"]["labels"])) keys.push_back(at->first);
  }
  return keys;
}

std::vector<kube::Object> ReplicaSetController::candidates(const kube::Object& set) const {
  std::vector<kube::Object> found = pods_->index("replica-set", std::string(kube::uid(set)));
  std::vector<kube::Object> orphans = pods_->index("replica-set", orphan_key(kube::ns(set)));
  std::erase_if(orphans, [](const kube::Object& pod) {
    const auto phase = pod["status"]["phase"].as_string();
    return phase == "Succeeded" || phase == "Failed";
  });
  found.insert(found.end(), std::make_move_iterator(orphans.begin()), std::make_move_iterator(orphans.end()));
  return found;
}

Task<Outcome> ReplicaSetController::reconcile(control::Reconcile& run) {
  const kube::Object set = sets_->get(run.key);
  if (set.is_null()) co_return Outcome::settled();
  Claim claim = sort_claim(set, candidates(set));
  if (!claim.adopt.empty() || !claim.release.empty()) {
    const auto settled = co_await settle_claim(run.client, kReplicaSets, set, kPods, std::move(claim), kManager);
    co_return settled ? Outcome::retries_after(Duration{0}) : Outcome::failed(settled.error());
  }
  co_return co_await carry_out(run.client, set, std::move(claim.own));
}

/// The status is counted from what is there before the effects; a plan that makes or deletes pods is followed by another look,
/// so the count is written once for both.
Task<Outcome> ReplicaSetController::carry_out(client::Client& client, kube::Object set, std::vector<kube::Object> pods) {
  const std::string ns(kube::ns(set));
  const auto is_taken = [this, ns](const std::string& name) { return pods_->find({ns, name}) != nullptr; };
  ReplicaSetPlan plan = plan_replica_set(set, pods, is_taken, wall_.now());
  const bool has_effects = !plan.create.empty() || !plan.remove.empty();
  const bool is_creation = !plan.create.empty();
  auto done = co_await remove_pods(client, std::move(plan.remove));
  if (done) done = co_await create_pods(client, set, std::move(plan.create));
  if (has_effects && done) co_return Outcome::retries_after(Duration{0});

  std::optional<ReplicaFailure> failure;
  // A name that is taken or a write that was overtaken says only that the cache is old.
  const bool is_old = !done && (done.error().reason == Reason::AlreadyExists || done.error().reason == Reason::Conflict);
  if (!done && !is_old) failure = ReplicaFailure{is_creation, done.error().message};
  if (!is_old) {
    const json::Value status = replica_set_status(set, pods, failure, wall_.now());
    const auto written = co_await control::write_status(client, kReplicaSets, set, status, kManager);
    if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(written.error());
  }
  if (!done) co_return Outcome::failed(done.error());
  co_return plan.look_again ? Outcome::retries_after(*plan.look_again) : Outcome::settled();
}

/// Slow start: 1, 2, 4, … side by side, so that a template that is refused costs one request and not hundreds.
Task<Result<void>> ReplicaSetController::create_pods(client::Client& client, kube::Object set, std::vector<std::string> names) {
  std::size_t next = 0;
  for (std::size_t batch = 1; next < names.size(); batch *= 2) {
    Writes writes(env_);
    for (const std::size_t end = std::min(next + batch, names.size()); next < end; ++next) {
      writes.add(create_pod(client, make_replica_pod(set, names[next])));
    }
    SLIPWAY_CO_TRY_VOID(co_await writes.join());
  }
  co_return Result<void>{};
}

Task<Result<void>> ReplicaSetController::remove_pods(client::Client& client, std::vector<kube::Object> pods) {
  Writes writes(env_);
  for (const kube::Object& pod : pods) writes.add(remove_exactly(client, kPods, pod));
  co_return co_await writes.join();
}

}  // namespace slipway::cluster

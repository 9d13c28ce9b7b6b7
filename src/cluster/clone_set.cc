#include "cluster/clone_set.h"

#include <algorithm>
#include <set>

#include "cluster/adoption.h"
#include "cluster/controller_revision.h"
#include "cluster/in_place_writes.h"
#include "cluster/names.h"
#include "cluster/pod_facts.h"
#include "cluster/writes.h"
#include "control/object_writes.h"

namespace slipway::cluster {

/// What one reconcile looks at.
struct CloneSetController::Sight {
  kube::Object set;
  CloneSetSpec spec;
  std::vector<kube::Object> pods;
  CloneSetRevisions revisions;
};

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kCloneSetManager = "slipway-cloneset";
/// The cache of pods is told when it has caught up; this is for when it is not.
constexpr Duration kCloneCacheIsOld = std::chrono::seconds{1};
constexpr RevisionLabel kHistory{"controller.kubernetes.io/hash"};

Task<Result<void>> mark_pod(client::Client& client, kube::Object pod) {
  SLIPWAY_CO_TRY_VOID(
      co_await patch_metadata(client, kPods, pod, "labels", std::string(kSpecifiedDelete), "true", kCloneSetManager));
  co_return Result<void>{};
}

/// The numbers that were used are written down before the status.
Task<Result<void>> write_clone_status(client::Client& client, kube::Object set, Value status, PodNumbers numbers) {
  if (numbers.next != PodNumbers::of(set).next) {
    auto noted = co_await patch_metadata(client, kCloneSets, set, "annotations", std::string(kPodNumbers), numbers.to_string(),
                                         kCloneSetManager);
    if (!noted) co_return fail(noted.error());
    set = *noted;
  }
  SLIPWAY_CO_TRY_VOID(co_await control::write_status(client, kCloneSets, set, std::move(status), kCloneSetManager));
  co_return Result<void>{};
}

/// Says only that the cache is old.
bool is_overtaken(const Result<void>& done) {
  if (done) return false;
  const Reason reason = done.error().reason;
  return reason == Reason::AlreadyExists || reason == Reason::Conflict || reason == Reason::NotFound;
}

}  // namespace

void CloneSetController::watch(control::Watches& watches) {
  sets_ = &watches.primary(kCloneSets);
  pods_ = &watches.also(
      kPods, [this](const kube::Object& pod) { return claimants(*sets_, kCloneSetKind.group, kCloneSetKind.kind, pod); });
  pods_->add_index("clone-set", claim_keys);
  history_ = &watches.also(kControllerRevisions, control::Watches::owner_of_kind(kCloneSetKind.group, kCloneSetKind.kind));
  history_->add_index("clone-set", claim_keys);
}

Task<Outcome> CloneSetController::reconcile(control::Reconcile& run) {
  const kube::Object set = sets_->get(run.key);
  if (set.is_null()) known_.forget(run.key);
  if (set.is_null() || kube::is_deleting(set)) co_return Outcome::settled();
  auto spec = json::decode<CloneSetSpec>(set["spec"], "spec", {.allow_unknown = true});
  if (!spec) co_return Outcome::failed(spec.error());
  Claim claim = sort_claim(set, claim_candidates(*pods_, "clone-set", set));
  if (claim.needs_writes()) {
    const auto settled = co_await settle_claim(run.client, kCloneSets, set, kPods, std::move(claim), kCloneSetManager);
    co_return settled ? Outcome::retries_after(Duration{0}) : Outcome::failed(settled.error());
  }
  auto revisions = co_await revisions_of(run.client, set);
  if (!revisions) co_return Outcome::failed(revisions.error());
  co_return co_await carry_out(run.client, {set, std::move(*spec), std::move(claim.own), std::move(*revisions)});
}

Task<Result<CloneSetRevisions>> CloneSetController::revisions_of(client::Client& client, kube::Object set) {
  const std::vector<kube::Object> known = history_->index("clone-set", std::string(kube::uid(set)));
  SLIPWAY_CO_TRY(update,
                 co_await settle_revision(client, kCloneSets, set, plan_revision(kHistory, set, known), kCloneSetManager));
  CloneSetRevisions revisions;
  const auto add = [&](const kube::Object& revision) {
    revisions.templates.insert_or_assign(std::string(kube::name(revision)), revision_template(revision).without("$patch"));
  };
  for (const kube::Object& revision : known) add(revision);
  add(update);
  revisions.update = std::string(kube::name(update));
  revisions.current = set["status"]["currentRevision"].str();
  if (!revisions.templates.contains(revisions.current)) revisions.current = revisions.update;
  co_return revisions;
}

/// As a ReplicaSet's: a look that has effects is followed by another, so that the status is written once for both.
Task<Outcome> CloneSetController::carry_out(client::Client& client, Sight sight) {
  const std::string ns(kube::ns(sight.set));
  const auto is_taken = [this, ns](const std::string& name) { return pods_->contains({ns, name}); };
  PodNumbers numbers = known_.of(sight.set, sight.pods.size(), is_taken);
  for (const kube::Object& pod : sight.pods) numbers.seen = std::max(numbers.seen, kube::revision(pod));
  const CloneSetPlan plan = plan_clone_set(sight.set, sight.spec, sight.revisions, sight.pods, wall_.now());
  const bool is_creation = plan.create_old + plan.create_new > 0;
  if (is_creation && pods_->revision() < PodNumbers::of(sight.set).seen) co_return Outcome::retries_after(kCloneCacheIsOld);

  std::optional<CloneSetFailure> failure;
  if (plan.update_failure) failure = CloneSetFailure{"FailedUpdate", *plan.update_failure};
  auto done = co_await scale(client, sight, plan, numbers);
  if (!done) failure = CloneSetFailure{"FailedScale", done.error().message};
  if (done) {
    done = co_await update(client, plan);
    if (!done) failure = CloneSetFailure{"FailedUpdate", done.error().message};
  }
  if (is_overtaken(done)) co_return Outcome::failed(done.error());
  if (done && plan.has_effects()) co_return Outcome::retries_after(Duration{0});

  const Value status = clone_set_status(sight.set, sight.spec, sight.revisions, sight.pods, failure, wall_.now());
  const auto written = co_await write_clone_status(client, sight.set, status, numbers);
  if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(written.error());
  if (done) done = co_await remove_surplus(client, std::move(sight));
  if (!done) co_return Outcome::failed(done.error());
  co_return plan.look_again ? Outcome::retries_after(*plan.look_again) : Outcome::settled();
}

Task<Result<void>> CloneSetController::scale(client::Client& client, Sight sight, CloneSetPlan plan, PodNumbers numbers) {
  Writes removals(env_);
  for (const kube::Object& pod : plan.remove) removals.add(remove_exactly(client, kPods, pod));
  SLIPWAY_CO_TRY_VOID(co_await removals.join());
  const std::string ns(kube::ns(sight.set));
  const auto is_taken = [this, ns](const std::string& name) { return pods_->contains({ns, name}); };
  std::vector<kube::Object> made;
  for (const std::string& name : next_pod_names(sight.set, plan.create_old + plan.create_new, is_taken, numbers.next)) {
    const bool is_old = std::ssize(made) < plan.create_old;
    const std::string& revision = is_old ? sight.revisions.current : sight.revisions.update;
    made.push_back(make_clone_pod(sight.set, sight.spec, sight.revisions.templates[revision], name, revision));
  }
  SLIPWAY_CO_TRY_VOID(co_await create_slowly(env_, client, kPods, std::move(made), kCloneSetManager));
  // After a failure the same numbers are tried again: a pod may have been made though no answer came.
  known_.of(sight.set, sight.pods.size(), is_taken).next = numbers.next;
  co_return Result<void>{};
}

Task<Result<void>> CloneSetController::update(client::Client& client, CloneSetPlan plan) {
  const Time now = wall_.now();
  Writes writes(env_);
  for (const kube::Object& pod : plan.settle) writes.add(settle_pod(client, pod, now, kCloneSetManager));
  for (const kube::Object& pod : plan.mark) writes.add(mark_pod(client, pod));
  for (const PodChange& change : plan.update_in_place) writes.add(change_pod(client, change, now, kCloneSetManager));
  co_return co_await writes.join();
}

/// Old revisions that no pod has.
Task<Result<void>> CloneSetController::remove_surplus(client::Client& client, Sight sight) {
  std::set<std::string> live{sight.revisions.current, sight.revisions.update};
  for (const kube::Object& pod : sight.pods) live.emplace(kube::label(pod, kRevisionHash));
  const auto known = history_->index("clone-set", std::string(kube::uid(sight.set)));
  for (const kube::Object& revision : surplus_revisions(known, live, sight.spec.revision_history_limit)) {
    SLIPWAY_CO_TRY_VOID(co_await remove_exactly(client, kControllerRevisions, revision));
  }
  co_return Result<void>{};
}

}  // namespace slipway::cluster

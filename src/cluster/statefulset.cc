#include "cluster/statefulset.h"

#include <set>

#include "cluster/adoption.h"
#include "cluster/controller_revision.h"
#include "cluster/in_place_writes.h"
#include "cluster/names.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kStatefulSetManager = "slipway-statefulset";
constexpr RevisionLabel kStatefulSetHashLabel{"controller.kubernetes.io/hash"};

Task<Result<void>> create(client::Client& client, kube::Resource resource, kube::Object object) {
  const auto made = co_await client::create(client, std::move(resource), std::move(object), kStatefulSetManager);
  co_return made ? Result<void>{} : fail(made.error());
}

Task<Result<void>> own_claim(client::Client& client, ClaimOwners change) {
  co_return co_await write_owners(client, kClaims, change.claim, change.owners, kStatefulSetManager);
}

Task<Result<void>> relabel(client::Client& client, kube::Object pod) {
  const auto written = co_await client::update(client, kPods, std::move(pod), kStatefulSetManager);
  co_return written || written.error().reason == Reason::NotFound ? Result<void>{} : fail(written.error());
}

/// The names of revisions that are in use.
std::set<std::string> live_revisions(const StatefulSetView& view) {
  std::set<std::string> live{std::string(kube::name(view.current)), std::string(kube::name(view.update))};
  for (const kube::Object& pod : view.pods) live.insert(std::string(kube::label(pod, kRevisionHash)));
  return live;
}

}  // namespace

StatefulSetController::StatefulSetController(Env& env, StatefulKind kind)
    : env_(env),
      wall_(env.clock),
      kind_(kind),
      resource_(kind == StatefulKind::Plain ? kStatefulSets : kAdvancedStatefulSets) {}

void StatefulSetController::watch(control::Watches& watches) {
  sets_ = &watches.primary(resource_);
  pods_ = &watches.also(kPods, [this](const kube::Object& pod) { return sets_of_pod(pod); });
  pods_->add_index("stateful-set", claim_keys);
  revisions_ = &watches.also(kControllerRevisions, [this](const kube::Object& revision) {
    return claimants(*sets_, resource_.group, "StatefulSet", revision);
  });
  revisions_->add_index("stateful-set-revision", claim_keys);
  claims_ = &watches.also(kClaims, [this](const kube::Object& claim) { return sets_of_claim(claim); });
}

/// Also the set that waits for the name of a pod that it does not own.
std::vector<kube::ObjectKey> StatefulSetController::sets_of_pod(const kube::Object& pod) const {
  std::vector<kube::ObjectKey> keys = claimants(*sets_, resource_.group, "StatefulSet", pod);
  const std::string_view name = kube::name(pod);
  const kube::ObjectKey named{std::string(kube::ns(pod)), std::string(name.substr(0, name.rfind('-')))};
  if (keys.empty() && sets_->contains(named)) keys.push_back(named);
  return keys;
}

/// The claim's name is that of a template, of the set, and the ordinal.
std::vector<kube::ObjectKey> StatefulSetController::sets_of_claim(const kube::Object& claim) const {
  std::vector<kube::ObjectKey> keys;
  for (const auto& [key, set] : sets_->objects(kube::ns(claim))) {
    for (const Value& given : set["spec"]["volumeClaimTemplates"].items()) {
      const std::string prefix = given["metadata"]["name"].str() + "-" + key.name + "-";
      if (kube::name(claim).starts_with(prefix)) keys.push_back(key);
    }
  }
  return keys;
}

Task<Outcome> StatefulSetController::reconcile(control::Reconcile& run) {
  const kube::Object set = sets_->get(run.key);
  if (set.is_null() || kube::is_deleting(set)) co_return Outcome::settled();
  std::vector<kube::Object> candidates = claim_candidates(*pods_, "stateful-set", set);
  std::erase_if(candidates, [&](const kube::Object& pod) { return !member_ordinal(set, kube::name(pod)); });
  Claim pods = sort_claim(set, candidates);
  Claim revisions = sort_claim(set, claim_candidates(*revisions_, "stateful-set-revision", set));
  if (pods.needs_writes() || revisions.needs_writes()) {
    auto settled = co_await settle_claim(run.client, resource_, set, kPods, std::move(pods), kStatefulSetManager);
    if (settled) {
      settled =
          co_await settle_claim(run.client, resource_, set, kControllerRevisions, std::move(revisions), kStatefulSetManager);
    }
    co_return settled ? Outcome::retries_after(Duration{0}) : Outcome::failed(settled.error());
  }
  co_return co_await sync(run.client, set, std::move(pods.own), std::move(revisions.own));
}

Task<Outcome> StatefulSetController::sync(client::Client& client, kube::Object set, std::vector<kube::Object> pods,
                                          std::vector<kube::Object> revisions) {
  const RevisionPlan planned = plan_revision(kStatefulSetHashLabel, set, revisions);
  auto update = co_await settle_revision(client, resource_, set, planned, kStatefulSetManager);
  if (!update) co_return Outcome::failed(update.error());
  StatefulSetView view{.set = set, .pods = std::move(pods), .current = *update, .update = *update, .find_claim = {}};
  view.history = revisions;
  if (kind_ == StatefulKind::Advanced) view.advanced = AdvancedRollout(set);
  for (const kube::Object& revision : revisions) {
    const bool is_update = kube::name(revision) == kube::name(*update);
    if (!is_update && set["status"]["currentRevision"].as_string() == kube::name(revision)) view.current = revision;
  }
  view.find_claim = [this, ns = std::string(kube::ns(set))](const std::string& name) { return claims_->get({ns, name}); };
  const auto plan = std::make_shared<const StatefulSetPlan>(plan_stateful_set(view, wall_.now()));
  Result<kube::Object> written = set;
  if (plan->is_status_first)
    written = co_await control::write_status(client, resource_, set, plan->status, kStatefulSetManager);
  if (!written) co_return Outcome::failed(written.error());
  const auto done = co_await carry_out(client, plan);
  if (done && plan->has_effects()) co_return Outcome::retries_after(Duration{0});
  if (!plan->is_status_first && !plan->status.is_null()) {
    written = co_await control::write_status(client, resource_, set, plan->status, kStatefulSetManager);
    if (!written) co_return Outcome::failed(written.error());
  }
  if (!done) co_return Outcome::failed(done.error());
  for (const kube::Object& old : surplus_revisions(std::move(revisions), live_revisions(view),
                                                   set["spec"]["revisionHistoryLimit"].as_int(kDefaultHistoryLimit))) {
    const auto removed = co_await remove_exactly(client, kControllerRevisions, old);
    if (!removed) co_return Outcome::failed(removed.error());
  }
  co_return plan->look_again ? Outcome::retries_after(*plan->look_again) : Outcome::settled();
}

/// Claims before the pods that use them, and their owners before the pods that they may go with.
Task<Result<void>> StatefulSetController::carry_out(client::Client& client, std::shared_ptr<const StatefulSetPlan> plan) {
  {
    Writes writes(env_);
    for (const ClaimOwners& change : plan->own_claims) writes.add(own_claim(client, change));
    for (const kube::Object& claim : plan->create_claims) writes.add(create(client, kClaims, claim));
    SLIPWAY_CO_TRY_VOID(co_await writes.join());
  }
  Writes writes(env_);
  for (const kube::Object& pod : plan->remove) writes.add(remove_exactly(client, kPods, pod));
  for (const kube::Object& pod : plan->relabel) writes.add(relabel(client, pod));
  for (const kube::Object& pod : plan->create) writes.add(create(client, kPods, pod));
  for (const kube::Object& pod : plan->settle) writes.add(settle_pod(client, pod, wall_.now(), kStatefulSetManager));
  for (const PodChange& change : plan->update_in_place)
    writes.add(change_pod(client, change, wall_.now(), kStatefulSetManager));
  co_return co_await writes.join();
}

}  // namespace slipway::cluster

#include "cluster/daemonset.h"

#include <set>

#include "cluster/adoption.h"
#include "cluster/controller_revision.h"
#include "cluster/names.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kDaemonSetManager = "slipway-daemonset";
constexpr RevisionLabel kDaemonSetHashLabel{kRevisionHash};

Task<Result<void>> create_pod(client::Client& client, kube::Object pod) {
  const auto made = co_await client::create(client, kPods, std::move(pod), kDaemonSetManager);
  co_return made ? Result<void>{} : fail(made.error());
}

}  // namespace

void DaemonSetController::watch(control::Watches& watches) {
  sets_ = &watches.primary(kDaemonSets);
  pods_ = &watches.also(kPods, [this](const kube::Object& pod) { return claimants(*sets_, "apps", "DaemonSet", pod); });
  pods_->add_index("daemon-set", claim_keys);
  revisions_ = &watches.also(kControllerRevisions,
                             [this](const kube::Object& revision) { return claimants(*sets_, "apps", "DaemonSet", revision); });
  revisions_->add_index("daemon-set-revision", claim_keys);
  nodes_ = &watches.changes(kNodes, [this](const kube::Object& before, const kube::Object& after) {
    std::vector<kube::ObjectKey> keys;
    const bool is_same = !before.is_null() && !after.is_null() && before["spec"] == after["spec"] &&
                         before["metadata"]["labels"] == after["metadata"]["labels"];
    if (is_same) return keys;
    for (const kube::ObjectKey& key : sets_->keys()) keys.push_back(key);
    return keys;
  });
}

Task<Outcome> DaemonSetController::reconcile(control::Reconcile& run) {
  const kube::Object set = sets_->get(run.key);
  if (set.is_null() || kube::is_deleting(set)) co_return Outcome::settled();
  Claim pods = sort_claim(set, claim_candidates(*pods_, "daemon-set", set));
  Claim revisions = sort_claim(set, claim_candidates(*revisions_, "daemon-set-revision", set));
  if (pods.needs_writes() || revisions.needs_writes()) {
    auto settled = co_await settle_claim(run.client, kDaemonSets, set, kPods, std::move(pods), kDaemonSetManager);
    if (settled) {
      settled =
          co_await settle_claim(run.client, kDaemonSets, set, kControllerRevisions, std::move(revisions), kDaemonSetManager);
    }
    co_return settled ? Outcome::retries_after(Duration{0}) : Outcome::failed(settled.error());
  }
  DaemonSetView view{set, {}, std::move(pods.own), ""};
  for (const auto& [key, node] : nodes_->objects()) view.nodes.push_back(node);
  co_return co_await sync(run.client, std::move(view), std::move(revisions.own));
}

Task<Outcome> DaemonSetController::sync(client::Client& client, DaemonSetView view, std::vector<kube::Object> revisions) {
  const RevisionPlan planned = plan_revision(kDaemonSetHashLabel, view.set, revisions);
  auto update = co_await settle_revision(client, kDaemonSets, view.set, planned, kDaemonSetManager);
  if (!update) co_return Outcome::failed(update.error());
  view.hash = std::string(kube::label(*update, kRevisionHash));
  const auto seen = std::make_shared<const DaemonSetView>(std::move(view));
  const auto plan = std::make_shared<const DaemonSetPlan>(plan_daemon_set(*seen, wall_.now()));
  const auto done = co_await carry_out(client, seen, plan);
  if (done && !(plan->create.empty() && plan->remove.empty())) co_return Outcome::retries_after(Duration{0});
  if (!plan->status.is_null()) {
    const auto written = co_await control::write_status(client, kDaemonSets, seen->set, plan->status, kDaemonSetManager);
    if (!written) co_return Outcome::failed(written.error());
  }
  if (!done) co_return Outcome::failed(done.error());
  std::set<std::string> live{std::string(kube::name(*update))};
  std::int64_t used = 0;
  for (const kube::Object& revision : revisions) {
    const auto hash = kube::label(revision, kRevisionHash);
    const bool is_used =
        std::ranges::any_of(seen->pods, [&](const auto& pod) { return kube::label(pod, kRevisionHash) == hash; });
    if (is_used && live.insert(std::string(kube::name(revision))).second) ++used;
  }
  const std::int64_t limit = seen->set["spec"]["revisionHistoryLimit"].as_int(kDefaultHistoryLimit);
  for (const kube::Object& old : surplus_revisions(std::move(revisions), live, limit, used)) {
    const auto removed = co_await remove_exactly(client, kControllerRevisions, old);
    if (!removed) co_return Outcome::failed(removed.error());
  }
  co_return plan->look_again ? Outcome::retries_after(*plan->look_again) : Outcome::settled();
}

Task<Result<void>> DaemonSetController::carry_out(client::Client& client, std::shared_ptr<const DaemonSetView> view,
                                                  std::shared_ptr<const DaemonSetPlan> plan) {
  Writes writes(env_);
  for (const kube::Object& pod : plan->remove) writes.add(remove_exactly(client, kPods, pod));
  for (const std::string& node : plan->create) writes.add(create_pod(client, make_daemon_pod(view->set, view->hash, node)));
  co_return co_await writes.join();
}

}  // namespace slipway::cluster

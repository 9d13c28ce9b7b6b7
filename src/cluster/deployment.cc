#include "cluster/deployment.h"

#include <algorithm>

#include "cluster/adoption.h"
#include "cluster/deployment_facts.h"
#include "cluster/deployment_plan.h"
#include "cluster/deployment_status.h"
#include "cluster/names.h"
#include "cluster/pod_facts.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kDeploymentManager = "slipway-deployment";

Task<Result<void>> change_set(client::Client& client, SetChange change) {
  const Value& metadata = change.set["metadata"];
  const Value patch = change.patch.with_path({"metadata", "uid"}, metadata["uid"])
                          .with_path({"metadata", "resourceVersion"}, metadata["resourceVersion"]);
  const auto changed = co_await client::merge_patch(client, kReplicaSets, kube::key_of(change.set), patch, kDeploymentManager);
  if (!changed) co_return fail(changed.error());
  co_return Result<void>{};
}

/// Revision and status in one write to status, which takes annotations too and leaves the generation as it is.
Task<Result<void>> write_progress(client::Client& client, kube::Object deployment, std::shared_ptr<const RolloutPlan> plan) {
  kube::Object next = deployment;
  if (!plan->revision.empty()) next = next.with_path({"metadata", "annotations", kRevision}, plan->revision);
  if (!plan->status.is_null()) next = next.with("status", plan->status);
  if (next.is_same(deployment)) co_return Result<void>{};
  const auto written = co_await client::update_status(client, kDeployments, std::move(next), kDeploymentManager);
  co_return written ? Result<void>{} : fail(written.error());
}

}  // namespace

void DeploymentController::watch(control::Watches& watches) {
  deployments_ = &watches.primary(kDeployments);
  sets_ = &watches.also(kReplicaSets,
                        [this](const kube::Object& set) { return claimants(*deployments_, "apps", "Deployment", set); });
  sets_->add_index("deployment", claim_keys);
  pods_ = &watches.changes(kPods, [this](const kube::Object& before, const kube::Object& after) {
    // Only a pod that has ended can let a Recreate go on.
    const bool has_ended = after.is_null() || (is_terminal_pod(after) && !is_terminal_pod(before));
    return has_ended ? waiting_deployment_of(after.is_null() ? before : after) : std::vector<kube::ObjectKey>{};
  });
  pods_->add_index("deployment-pod", [](const kube::Object& pod) {
    const Value& owner = kube::controller_of(pod);
    return owner.is_null() ? std::vector<std::string>{} : std::vector<std::string>{owner["uid"].str()};
  });
}

std::vector<kube::ObjectKey> DeploymentController::waiting_deployment_of(const kube::Object& pod) const {
  const Value& owner = kube::controller_of(pod);
  if (!kube::refers_to(owner, "apps", "ReplicaSet")) return {};
  const Value set = sets_->get({std::string(kube::ns(pod)), owner["name"].str()});
  if (set.is_null()) return {};
  std::vector<kube::ObjectKey> keys = claimants(*deployments_, "apps", "Deployment", set);
  std::erase_if(keys, [&](const kube::ObjectKey& key) {
    const Value deployment = deployments_->get(key);
    return deployment.is_null() || DeploymentSpec(deployment).is_rolling;
  });
  return keys;
}

Task<Outcome> DeploymentController::reconcile(control::Reconcile& run) {
  const kube::Object deployment = deployments_->get(run.key);
  if (deployment.is_null()) co_return Outcome::settled();
  Claim claim = sort_claim(deployment, claim_candidates(*sets_, "deployment", deployment));
  if (claim.needs_writes()) {
    const auto settled =
        co_await settle_claim(run.client, kDeployments, deployment, kReplicaSets, std::move(claim), kDeploymentManager);
    co_return settled ? Outcome::retries_after(Duration{0}) : Outcome::failed(settled.error());
  }
  const auto has_pods = [this](const kube::Object& set) {
    const auto pods = pods_->index("deployment-pod", std::string(kube::uid(set)));
    return std::any_of(pods.begin(), pods.end(), [](const kube::Object& pod) { return !is_terminal_pod(pod); });
  };
  const auto plan = std::make_shared<const RolloutPlan>(plan_rollout(deployment, claim.own, has_pods, wall_.now()));
  const auto done = co_await carry_out(run.client, deployment, plan);
  if (!done) co_return Outcome::failed(done.error());
  co_return plan->look_again ? Outcome::retries_after(*plan->look_again) : Outcome::settled();
}

Task<Result<void>> DeploymentController::carry_out(client::Client& client, kube::Object deployment,
                                                   std::shared_ptr<const RolloutPlan> plan) {
  if (!plan->create.is_null()) SLIPWAY_CO_TRY_VOID(co_await create_set(client, deployment, plan->create));
  Writes writes(env_);
  for (const SetChange& change : plan->changes) writes.add(change_set(client, change));
  SLIPWAY_CO_TRY_VOID(co_await writes.join());
  SLIPWAY_CO_TRY_VOID(co_await write_progress(client, deployment, plan));
  for (const control::EventText& event : plan->events) {
    const auto told = co_await control::record_event(env_, client, deployment, event, "deployment-controller");
    if (!told && told.error().reason != Reason::Forbidden) co_return fail(told.error());
  }
  for (const kube::Object& set : plan->remove) {
    SLIPWAY_CO_TRY_VOID(co_await remove_exactly(client, kReplicaSets, set));
  }
  co_return Result<void>{};
}

/// The name follows from the template, so a set that was made before a crash, or that the cache does not show yet, is met
/// again. One of that name with another template or owner is a clash of hashes: status.collisionCount changes the next name.
Task<Result<void>> DeploymentController::create_set(client::Client& client, kube::Object deployment, kube::Object set) {
  const auto made = co_await client::create(client, kReplicaSets, set, kDeploymentManager);
  if (made) co_return Result<void>{};
  if (made.error().reason != Reason::AlreadyExists) {
    const Value failed = create_failure_status(deployment, kube::name(set), made.error().message, env_.clock.now());
    if (!failed.is_null())
      SLIPWAY_CO_TRY_VOID(co_await control::write_status(client, kDeployments, deployment, failed, kDeploymentManager));
    co_return fail(made.error());
  }
  SLIPWAY_CO_TRY(live, co_await client::get(client, kReplicaSets, kube::key_of(set)));
  const bool is_own = kube::is_owned_by(live, kube::uid(deployment));
  if (!is_own || !are_equal_templates(live["spec"]["template"], deployment["spec"]["template"])) {
    const std::int64_t collisions = deployment["status"]["collisionCount"].as_int() + 1;
    const Value status = deployment["status"].with("collisionCount", collisions);
    SLIPWAY_CO_TRY_VOID(co_await control::write_status(client, kDeployments, deployment, status, kDeploymentManager));
  }
  co_return fail(made.error());
}

}  // namespace slipway::cluster

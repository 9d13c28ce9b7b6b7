#include "cluster/disruption.h"

#include "cluster/disruption_plan.h"
#include "cluster/names.h"
#include "cluster/scale_target.h"
#include "control/events.h"
#include "control/object_writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kDisruptionManager = "slipway-disruption";

}  // namespace

std::int64_t DisruptionController::Wanted::total() const {
  std::int64_t sum = 0;
  for (const auto& [uid, replicas] : by_controller) sum += replicas;
  return sum;
}

void DisruptionController::watch(control::Watches& watches) {
  budgets_ = &watches.primary(kBudgets);
  pods_ = &watches.also(kPods, [this](const kube::Object& pod) { return budgets_of(pod); });
  sets_ = &watches.cache(kReplicaSets);
  deployments_ = &watches.cache(kDeployments);
  definitions_ = &watches.cache(kDefinitions);
}

std::vector<kube::ObjectKey> DisruptionController::budgets_of(const kube::Object& pod) const {
  std::vector<kube::ObjectKey> keys;
  for (const auto& [key, budget] : budgets_->objects(kube::ns(pod))) {
    if (is_budget_of(budget, pod)) keys.push_back(key);
  }
  return keys;
}

std::vector<kube::Object> DisruptionController::pods_of(const kube::Object& budget) const {
  std::vector<kube::Object> found;
  for (const auto& [key, pod] : pods_->objects(kube::ns(budget))) {
    if (is_budget_of(budget, pod)) found.push_back(pod);
  }
  return found;
}

Task<Outcome> DisruptionController::reconcile(control::Reconcile& run) {
  const kube::Object budget = budgets_->get(run.key);
  if (budget.is_null() || kube::is_deleting(budget)) co_return Outcome::settled();
  const std::vector<kube::Object> pods = pods_of(budget);
  Result<Wanted> wanted = Wanted{};
  if (counts_wanted_pods(budget)) wanted = co_await count_wanted(run.client, pods);
  DisruptionPlan plan;
  if (wanted) {
    plan = plan_disruption(budget, pods, wanted->total(), wall_.now());
  } else {
    plan.status = failed_budget_status(budget, wanted.error().message, wall_.now());
  }
  if (plan.status != budget["status"]) {
    Result<void> told;
    if (!wanted) {
      told = co_await tell(run.client, budget, "Warning", "CalculateExpectedPodCountFailed",
                           "Failed to calculate the number of expected pods: " + wanted.error().message);
    } else if (pods.empty()) {
      told = co_await tell(run.client, budget, "Normal", "NoPods", "No matching pods found");
    } else if (wanted->has_unmanaged) {
      told = co_await tell(run.client, budget, "Warning", "UnmanagedPods", unmanaged_pods_message(budget));
    }
    if (!told) co_return Outcome::failed(told.error());
    const auto written = co_await control::write_status(run.client, kBudgets, budget, plan.status, kDisruptionManager);
    if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(written.error());
  }
  if (!wanted) co_return Outcome::failed(wanted.error());
  co_return plan.look_again ? Outcome::retries_after(*plan.look_again) : Outcome::settled();
}

Task<Result<DisruptionController::Wanted>> DisruptionController::count_wanted(client::Client& client,
                                                                              std::vector<kube::Object> pods) {
  Wanted wanted;
  for (const kube::Object& pod : pods) {
    if (kube::controller_of(pod).is_null()) {
      wanted.has_unmanaged = true;
    } else {
      SLIPWAY_CO_TRY(more, co_await add_wanted(client, pod, std::move(wanted)));
      wanted = std::move(more);
    }
  }
  co_return wanted;
}

Task<Result<DisruptionController::Wanted>> DisruptionController::add_wanted(client::Client& client, kube::Object pod,
                                                                            Wanted wanted) {
  Value owner = kube::controller_of(pod);
  const std::string ns(kube::ns(pod));
  const auto is_same = [](const Value& object, const Value& reference) {
    return kube::uid(object) == reference["uid"].as_string();
  };
  kube::Object holder;
  if (kube::refers_to(owner, "apps", "ReplicaSet")) {
    holder = sets_->get({ns, owner["name"].str()});
    const Value above = kube::controller_of(holder);
    if (is_same(holder, owner) && kube::refers_to(above, "apps", "Deployment")) {
      holder = deployments_->get({ns, above["name"].str()});
      owner = above;
    }
  }
  const std::string uid = owner["uid"].str();
  if (wanted.by_controller.contains(uid)) co_return wanted;
  const auto unknown = fail(Reason::NotFound, fmt::format("found no controllers for pod \"{}\"", kube::name(pod)));
  if (!holder.is_null()) {
    if (!is_same(holder, owner)) co_return unknown;
    wanted.by_controller[uid] = holder["spec"]["replicas"].as_int(1);
    co_return wanted;
  }
  SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(owner));
  SLIPWAY_CO_TRY(target, find_scale_target(kind, *definitions_));
  if (!target.has_scale) {
    const std::string text = target.resource.group_resource() + " does not implement the scale subresource";
    co_return fail(Reason::Invalid, text);
  }
  const auto scale = co_await read_scale(client, target.resource, {ns, owner["name"].str()});
  if (!scale && scale.error().reason != Reason::NotFound) co_return fail(scale.error());
  if (!scale || !is_same(*scale, owner)) co_return unknown;
  wanted.by_controller[uid] = (*scale)["spec"]["replicas"].as_int();
  co_return wanted;
}

Task<Result<void>> DisruptionController::tell(client::Client& client, kube::Object budget, const char* type, const char* reason,
                                              std::string message) {
  const auto told = co_await control::record_event(env_, client, budget, {type, reason, std::move(message), {}}, "disruption");
  if (!told && told.error().reason != Reason::Forbidden) co_return fail(told.error());
  co_return Result<void>{};
}

}  // namespace slipway::cluster

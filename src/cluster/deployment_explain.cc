#include "cluster/deployment_explain.h"

#include <algorithm>

#include "cluster/advanced_statefulset.h"
#include "cluster/clone_set_facts.h"
#include "cluster/deployment_facts.h"
#include "cluster/deployment_plan.h"
#include "cluster/deployment_status.h"
#include "cluster/kruise_explain.h"
#include "cluster/pod_facts.h"

namespace slipway::cluster {

namespace {

using control::View;
using control::Wait;
using json::Value;

const kube::GroupVersionKind kSetKind{"apps", "v1", "ReplicaSet"};

Wait wait_for_set(const kube::Object& set, const char* reason, std::string message) {
  return {fmt::format("ReplicaSet {}", kube::name(set)),
          reason,
          std::move(message),
          kube::creation_time(set),
          kube::reference_to(set),
          {}};
}

std::vector<Wait> explain_deployment(const kube::Object& deployment, const View& view) {
  std::vector<Wait> waits;
  const DeploymentSpec spec(deployment);
  const auto sets = view.owned_by(deployment, kSetKind);
  const kube::Object* current = find_new_set(deployment, sets);
  const bool is_complete = is_complete_rollout(deployment, deployment["status"]);
  if (is_complete && !spec.is_paused) return waits;
  if (spec.is_paused) {
    if (is_complete && current != nullptr) return waits;
    waits.push_back({fmt::format("Deployment {} to be resumed", kube::name(deployment)),
                     "DeploymentPaused",
                     "set spec.paused to false, or use kubectl rollout resume, to go on",
                     kube::time_of(kube::condition(deployment, "Progressing")["lastTransitionTime"]),
                     {},
                     {}});
    return waits;
  }
  if (kube::is_true(deployment, "ReplicaFailure")) waits.push_back(wait_of_condition(deployment, "ReplicaFailure"));
  if (const Value& progress = kube::condition(deployment, "Progressing"); progress["status"].as_string() == "False") {
    Wait late = wait_of_condition(deployment, "Progressing");
    if (current != nullptr) late.next = kube::reference_to(*current);
    waits.push_back(std::move(late));
    return waits;
  }
  if (current == nullptr) {
    waits.push_back({"its ReplicaSet",
                     "NoReplicaSet",
                     "the Deployment controller has not made it yet, or old pods still end",
                     kube::creation_time(deployment),
                     {},
                     {}});
    return waits;
  }
  const std::int64_t available = (*current)["status"]["availableReplicas"].as_int();
  if (available < spec.replicas) {
    waits.push_back(
        wait_for_set(*current, "ReplicaSetUpdating", fmt::format("{} of {} new pods are available", available, spec.replicas)));
    return waits;
  }
  for (const kube::Object& set : sets) {
    const std::int64_t left = set["status"]["replicas"].as_int();
    if (kube::uid(set) == kube::uid(*current) || left == 0) continue;
    waits.push_back(wait_for_set(set, "OldReplicasEnding", fmt::format("{} of its pods have yet to end", left)));
  }
  return waits;
}

std::vector<Wait> explain_replica_set(const kube::Object& set, const View& view) {
  std::vector<Wait> waits;
  if (kube::is_true(set, "ReplicaFailure")) waits.push_back(wait_of_condition(set, "ReplicaFailure"));
  for (Wait& wait : waits_for_unready_pods(set, view)) waits.push_back(std::move(wait));
  const std::int64_t wanted = set["spec"]["replicas"].as_int(1);
  const std::int64_t ready = set["status"]["readyReplicas"].as_int();
  const std::int64_t available = set["status"]["availableReplicas"].as_int();
  if (waits.empty() && ready >= wanted && available < wanted) {
    waits.push_back(
        {"minReadySeconds",
         "NotYetAvailable",
         fmt::format("{} of {} pods have been ready for {} s", available, wanted, set["spec"]["minReadySeconds"].as_int()),
         std::nullopt,
         {},
         {}});
  }
  if (waits.empty() && set["status"]["replicas"].as_int() < wanted) {
    waits.push_back(
        {"its pods", "NoPods", "the ReplicaSet controller has not made them yet", kube::creation_time(set), {}, {}});
  }
  return waits;
}

}  // namespace

Wait wait_of_condition(const kube::Object& object, std::string_view type) {
  const Value& condition = kube::condition(object, type);
  return {fmt::format("{} {}", kube::kind(object), kube::name(object)),
          condition["reason"].str(),
          condition["message"].str(),
          kube::time_of(condition["lastTransitionTime"]),
          {},
          {}};
}

std::vector<Wait> waits_for_unready_pods(const kube::Object& set, const View& view) {
  std::vector<Wait> waits;
  for (const kube::Object& pod : view.owned_by(set, kPodKind)) {
    if (kube::is_true(pod, "Ready") || is_terminal_pod(pod) || kube::is_deleting(pod)) continue;
    waits.push_back({fmt::format("pod {}", kube::name(pod)),
                     "PodNotReady",
                     "",
                     kube::time_of(pod["status"]["startTime"]),
                     kube::reference_to(pod),
                     {}});
  }
  return waits;
}

std::vector<control::ExplainRow> workload_explain_rows() {
  return {control::ExplainRow::without_parts("apps", "Deployment", explain_deployment),
          control::ExplainRow::without_parts("apps", "ReplicaSet", explain_replica_set),
          control::ExplainRow::without_parts(kKruiseGroup, kCloneSetKind.kind, explain_kruise_set),
          control::ExplainRow::without_parts(kKruiseGroup, kAdvancedStatefulSetKind.kind, explain_kruise_set)};
}

}  // namespace slipway::cluster

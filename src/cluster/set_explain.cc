#include "cluster/set_explain.h"

#include <algorithm>

#include "cluster/names.h"
#include "cluster/placement.h"
#include "cluster/pod_facts.h"
#include "cluster/statefulset_plan.h"

namespace slipway::cluster {

namespace {

using control::View;
using control::Wait;
using json::Value;

std::string message_of(const StatefulWait& wait) {
  if (wait.why == "PodMissing") return "it has not been made yet: its name or a claim may still be taken";
  if (wait.why == "PodTerminating") return "it has yet to end";
  if (wait.why == "PodNotYetAvailable") return "it is ready, but not yet for minReadySeconds";
  return "";
}

std::vector<Wait> explain_stateful_set(const kube::Object& set, const View& view) {
  const std::vector<kube::Object> pods = view.owned_by(set, kPodKind);
  const auto found = stateful_wait(set, pods, view.now());
  if (!found) return {};
  Wait wait{fmt::format("pod {}", found->pod), found->why, message_of(*found), std::nullopt, {}, {}};
  for (const kube::Object& pod : pods) {
    if (kube::name(pod) != found->pod) continue;
    wait.since = kube::time_of(pod["status"]["startTime"]);
    wait.next = kube::reference_to(pod);
    const bool is_ordered = set["spec"]["podManagementPolicy"].as_string() != "Parallel";
    const bool is_old = kube::label(pod, kRevisionHash) != set["status"]["updateRevision"].as_string();
    if (is_ordered && is_old && found->why == "PodNotReady") {
      wait.message = "it is of an older template and holds up what follows: delete it to have it made of the present one";
    }
  }
  return {std::move(wait)};
}

std::vector<Wait> explain_daemon_set(const kube::Object& set, const View& view) {
  std::vector<Wait> waits;
  const std::int64_t min_ready = set["spec"]["minReadySeconds"].as_int();
  for (const kube::Object& pod : view.owned_by(set, kPodKind)) {
    if (is_terminal_pod(pod) || is_available_pod(pod, min_ready, view.now())) continue;
    waits.push_back({fmt::format("pod {} on node {}", kube::name(pod), target_node(pod)),
                     kube::is_true(pod, "Ready") ? "PodNotYetAvailable" : "PodNotReady",
                     "",
                     kube::time_of(pod["status"]["startTime"]),
                     kube::reference_to(pod),
                     {}});
  }
  const Value& status = set["status"];
  const std::int64_t desired = status["desiredNumberScheduled"].as_int();
  const std::int64_t missing = desired - status["currentNumberScheduled"].as_int();
  if (missing > 0) {
    waits.push_back(
        {fmt::format("pods of {} nodes", missing), "PodMissing", "they have not been made yet", std::nullopt, {}, {}});
  }
  const std::int64_t old = desired - status["updatedNumberScheduled"].as_int();
  if (waits.empty() && old > 0 && set["spec"]["updateStrategy"]["type"].as_string() == "OnDelete") {
    waits.push_back({fmt::format("{} pods of an older template to be deleted", old),
                     "OnDelete",
                     "pods get the present template when somebody deletes them",
                     std::nullopt,
                     {},
                     {}});
  }
  return waits;
}

}  // namespace

std::vector<control::ExplainRow> set_explain_rows() {
  return {control::ExplainRow::without_parts("apps", "StatefulSet", explain_stateful_set),
          control::ExplainRow::without_parts("apps", "DaemonSet", explain_daemon_set)};
}

}  // namespace slipway::cluster

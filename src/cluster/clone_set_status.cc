#include <algorithm>

#include "cluster/clone_set_plan.h"
#include "cluster/in_place.h"
#include "cluster/names.h"
#include "cluster/pod_facts.h"
#include "kube/selector.h"

namespace slipway::cluster {

namespace {

using json::Value;

struct Counts {
  std::int64_t all = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
};

Value with_failure(const Value& conditions, const std::optional<CloneSetFailure>& failure, Time now) {
  json::ArrayBuilder kept;
  for (const Value& condition : conditions.items()) {
    if (failure && condition["type"].as_string() == failure->type) kept.add(condition);
  }
  if (!failure) return Value();
  return kube::set_condition(kept.build(), {failure->type, "True", failure->type, failure->message}, now);
}

}  // namespace

Value clone_set_status(const kube::Object& set, const CloneSetSpec& spec, const CloneSetRevisions& revisions,
                       const std::vector<kube::Object>& pods, const std::optional<CloneSetFailure>& failure, const Now& now) {
  Counts all;
  Counts updated;
  for (const kube::Object& pod : pods) {
    if (!is_active_pod(pod)) continue;
    const bool is_ready = is_ready_in_place(pod);
    const bool is_available = is_ready && is_available_pod(pod, spec.min_ready_seconds, now);
    const auto count = [&](Counts& counts) {
      ++counts.all;
      if (is_ready) ++counts.ready;
      if (is_available) ++counts.available;
    };
    count(all);
    if (kube::label(pod, kRevisionHash) == revisions.update) count(updated);
  }
  const bool is_complete = updated.all == all.all && all.all == spec.replicas;
  const auto selector = kube::LabelSelector::from_object(spec.selector);
  Value status = set["status"]
                     .with("observedGeneration", kube::generation(set))
                     .with("replicas", all.all)
                     .with("readyReplicas", all.ready)
                     .with("availableReplicas", all.available)
                     .with("updatedReplicas", updated.all)
                     .with("updatedReadyReplicas", updated.ready)
                     .with("updatedAvailableReplicas", updated.available)
                     .with("expectedUpdatedReplicas", spec.replicas - bounds_of(set, spec).partition)
                     .with("updateRevision", revisions.update)
                     .with("currentRevision", is_complete ? revisions.update : revisions.current)
                     .with("labelSelector", selector ? selector->to_string() : "");
  Value conditions = with_failure(status["conditions"], failure, now);
  return conditions.empty() ? status.without("conditions") : status.with("conditions", std::move(conditions));
}

}  // namespace slipway::cluster

// What a ReplicaSet needs next: a pure function of the set, its pods and the time (apps/v1 ReplicaSet as
// kube-controller-manager runs it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "cluster/pod_numbers.h"
#include "kube/object.h"

namespace slipway::cluster {

struct ReplicaSetPlan {
  std::vector<std::string> create;     // names of pods to make
  std::int64_t next_number = 0;        // PodNumbers::next once they are made
  std::vector<kube::Object> remove;    // the least useful first
  std::optional<Duration> look_again;  // a pod becomes available then (minReadySeconds)
};

/// `pods`: those that the set owns. `next_number`: PodNumbers::next.
///
/// DIVERGES: names are not random but follow from the next unused numbers (pod_numbers.h). Pods that ended by
/// disruption (DisruptionTarget: Slipway itself was stopped) are deleted with the next look; upstream leaves them to its pod
/// collector.
ReplicaSetPlan plan_replica_set(const kube::Object& set, const std::vector<kube::Object>& pods, const IsTaken& is_taken,
                                std::int64_t next_number, const Now& now);

/// Pods could not be made or deleted.
struct ReplicaFailure {
  bool is_creation = true;
  std::string message;
};
/// The whole status; condition ReplicaFailure stands while there is a failure.
json::Value replica_set_status(const kube::Object& set, const std::vector<kube::Object>& pods,
                               const std::optional<ReplicaFailure>& failure, const Now& now);

/// The pod of that name, ready to create.
kube::Object make_replica_pod(const kube::Object& set, const std::string& name);

/// The order in which pods of a set that shrinks go: not assigned, Pending before Unknown before Running, not ready, lower
/// controller.kubernetes.io/pod-deletion-cost, on a more crowded node, ready for less long (in powers of two), more restarts,
/// younger (in powers of two), by uid.
std::vector<kube::Object> in_removal_order(std::vector<kube::Object> pods, Time now);

}  // namespace slipway::cluster

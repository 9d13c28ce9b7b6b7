// What a ReplicaSet needs next: a pure function of the set, its pods and the time (apps/v1 ReplicaSet as
// kube-controller-manager runs it).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "kube/object.h"

namespace slipway::cluster {

/// Which numbers the names of a set's pods were made from. A number is used once, so that a replacement never has the name of
/// the pod that went. The set carries it as an annotation, "12@3456", which is written together with its status: a controller
/// that starts goes on from there.
struct PodNumbers {
  std::int64_t next = 0;    // all numbers below were used
  kube::Revision seen = 0;  // a cache of pods that has reached it knows all pods with these numbers

  static PodNumbers of(const kube::Object& set);
  std::string to_string() const;
  bool operator==(const PodNumbers&) const = default;
};

/// The numbers once more after a start: what an earlier process has used without writing it down is found by the names that
/// are taken. Looks `reach` numbers ahead.
PodNumbers with_taken_names(PodNumbers numbers, const kube::Object& set, std::int64_t reach,
                            const std::function<bool(const std::string& name)>& is_taken);

struct ReplicaSetPlan {
  std::vector<std::string> create;     // names of pods to make
  std::int64_t next_number = 0;        // PodNumbers::next once they are made
  std::vector<kube::Object> remove;    // the least useful first
  std::optional<Duration> look_again;  // a pod becomes available then (minReadySeconds)
};

/// `pods`: those that the set owns. `is_taken`: whether a pod name of the namespace is in use. `next_number`: PodNumbers::next.
///
/// DIVERGES: names are not random but follow from the set's uid and the next unused numbers, so that a controller that died
/// after creating, before it wrote the numbers down, meets the pod it has made instead of making another. Pods that ended by
/// disruption (DisruptionTarget: Slipway itself was stopped) are deleted with the next look; upstream leaves them to its pod
/// collector.
ReplicaSetPlan plan_replica_set(const kube::Object& set, const std::vector<kube::Object>& pods,
                                const std::function<bool(const std::string& name)>& is_taken, std::int64_t next_number,
                                const Now& now);

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

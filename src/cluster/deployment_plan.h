// What a Deployment needs next: a pure function of it, its ReplicaSets and the time (apps/v1 Deployment as
// kube-controller-manager runs it: rolling update, recreate, pause, proportional scaling, history).
//
// Safety: a set takes as much room as its spec asks for, or as it still has pods, whichever is more, so that there are never
// more than replicas + maxSurge pods (DIVERGES: upstream looks at the specs alone, and is above for a moment when an old set is
// slow to shrink). A set counts as available what its status says, but never more than its spec asks for, so that a set that is
// just shrinking is not taken for a reserve.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "control/events.h"
#include "kube/object.h"

namespace slipway::cluster {

/// One write to one ReplicaSet.
struct SetChange {
  kube::Object set;   // as it is now
  json::Value patch;  // merge patch {metadata.annotations, spec}; null values are not used
};

/// To be done in the order of the members.
struct RolloutPlan {
  /// deployment.kubernetes.io/revision of the Deployment; empty: it is right already.
  std::string revision;
  /// The ReplicaSet of a new template; null: none is to be made.
  kube::Object create;
  std::vector<SetChange> changes;
  std::vector<control::EventText> events;
  /// The new status; null when nothing changed.
  json::Value status;
  std::vector<kube::Object> remove;  // history beyond revisionHistoryLimit
  std::optional<Duration> look_again;
};

/// `sets`: all ReplicaSets that the Deployment owns. `has_pods`: whether a set still has pods that have not ended, those being
/// deleted included; asked only under Recreate.
RolloutPlan plan_rollout(const kube::Object& deployment, const std::vector<kube::Object>& sets,
                         const std::function<bool(const kube::Object& set)>& has_pods, const Now& now);

/// The set of the Deployment's present template: the oldest whose template equals it; nullptr when there is none.
const kube::Object* find_new_set(const kube::Object& deployment, const std::vector<kube::Object>& sets);

}  // namespace slipway::cluster

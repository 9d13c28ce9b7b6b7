// What a StatefulSet needs next: a pure function of it, its pods, their claims, its revisions and the time (apps/v1
// StatefulSet as kube-controller-manager runs it).
//
// Under OrderedReady one thing happens at a time: pod i is made once the pods below it are available, pods that are too many
// go from the top, and a pod that is not ready holds up all that follows, an update too. Under Parallel pods are made and
// removed at once; an update still takes one pod at a time, from the top down to the partition.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "cluster/advanced_statefulset.h"
#include "cluster/in_place.h"
#include "kube/object.h"

namespace slipway::cluster {

struct StatefulSetView {
  kube::Object set;
  std::vector<kube::Object> pods;             // that it owns, whatever their ordinal
  kube::Object current;                       // the ControllerRevision of status.currentRevision, or `update`
  kube::Object update;                        // of the present template
  std::vector<kube::Object> history{};        // all revisions; needed only for `advanced`
  std::optional<AdvancedRollout> advanced{};  // of OpenKruise's kind
  /// A claim of its namespace by name; null when there is none.
  std::function<kube::Object(const std::string& name)> find_claim;
};

/// A claim whose owners change; `owners` is null for none.
struct ClaimOwners {
  kube::Object claim;
  json::Value owners;
};

struct StatefulSetPlan {
  /// As it stands before the effects; null when nothing changed.
  json::Value status;
  /// The status names other revisions than before: to be written before the effects.
  bool is_status_first = false;
  std::vector<ClaimOwners> own_claims;
  std::vector<kube::Object> create_claims;
  std::vector<kube::Object> create;   // pods; after their claims
  std::vector<kube::Object> relabel;  // pods as they are to be
  std::vector<kube::Object> remove;
  std::vector<PodChange> update_in_place;
  std::vector<kube::Object> settle;  // in_place_end() says what to write
  std::optional<Duration> look_again;

  bool has_effects() const {
    return !own_claims.empty() || !create_claims.empty() || !create.empty() || !relabel.empty() || !remove.empty() ||
           !update_in_place.empty() || !settle.empty();
  }
};

/// Of a set that is not being deleted.
StatefulSetPlan plan_stateful_set(const StatefulSetView& view, const Now& now);

/// The ordinal at the end of the pod's name, if the rest is the set's; nullopt for a pod that is no member of it.
std::optional<std::int64_t> member_ordinal(const kube::Object& set, std::string_view pod_name);
/// The first pod, by ordinal, that the set waits for; null when all are there and available.
struct StatefulWait {
  std::string pod;  // name
  std::string why;  // "PodMissing", "PodNotReady", "PodTerminating", "PodNotYetAvailable"
};
std::optional<StatefulWait> stateful_wait(const kube::Object& set, const std::vector<kube::Object>& pods, const Now& now);

}  // namespace slipway::cluster

// What a CloneSet needs next: a pure function of the set, its revisions, its pods and the time. Numbers first
// (clone_set_diff), as upstream counts them (pkg/controller/cloneset/sync/cloneset_sync_utils.go), then the pods they mean.
//
// A look either makes and removes pods or updates them, never both: what is decided for one would be wrong after the other.
// A pod that is to be replaced is marked first (label specified-delete) and removed by a later look, within maxUnavailable and
// with the help of maxSurge, exactly as one that a user has marked.
//
// A partition that is raised turns updated pods back to the current revision: upstream does so only with its feature gate
// CloneSetPartitionRollback, here it is always on, since taking back a rollout depends on it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "cluster/clone_set_facts.h"
#include "cluster/in_place.h"

namespace slipway::cluster {

/// What a pod counts as.
struct ClonePod {
  bool is_updated = false;              // of the update revision
  bool is_available = false;            // ready for minReadySeconds, its life cycle Normal
  bool is_preparing_delete = false;     // its life cycle
  bool is_specified_to_delete = false;  // by label, or by scaleStrategy.podsToDelete
};

/// How many pods are missing, too many, and to be updated. Never negative but for `update`.
struct CloneSetDiff {
  std::int64_t scale_up = 0;
  std::int64_t scale_up_old = 0;    // of these of the current revision; may be more than scale_up
  std::int64_t scale_up_limit = 0;  // as many may be made now
  std::int64_t scale_down = 0;      // beside the pods that are specified to be deleted
  std::int64_t scale_down_old = 0;  // of these not of the update revision; may be more than scale_down
  std::int64_t delete_ready_limit = 0;
  std::int64_t surge = 0;  // pods above replicas for now
  std::int64_t surge_old = 0;
  std::int64_t update = 0;                  // negative: to be turned back to the current revision
  std::int64_t update_max_unavailable = 0;  // unavailable pods up to which available ones may be updated

  bool operator==(const CloneSetDiff&) const = default;
};

enum class TurnBack : std::uint8_t { Never, Allowed };
/// `turn_back`: Never where current and update revision are the same.
CloneSetDiff clone_set_diff(const CloneSetBounds& bounds, std::span<const ClonePod> pods, TurnBack turn_back);

struct CloneSetRevisions {
  std::string current;  // names of ControllerRevisions
  std::string update;
  std::map<std::string, json::Value> templates;  // by name of revision
};

struct CloneSetPlan {
  std::int64_t create_old = 0;  // pods of the current revision
  std::int64_t create_new = 0;  // pods of the update revision
  std::vector<kube::Object> remove;
  std::vector<kube::Object> mark;          // to be specified to delete
  std::vector<PodChange> update_in_place;  // spec and metadata
  std::vector<kube::Object> settle;        // in_place_end() says what to write
  std::optional<std::string> update_failure;
  std::optional<Duration> look_again;  // a pod becomes available then

  bool has_effects() const;
};

/// `pods`: those that the set owns, in any state.
CloneSetPlan plan_clone_set(const kube::Object& set, const CloneSetSpec& spec, const CloneSetRevisions& revisions,
                            const std::vector<kube::Object>& pods, const Now& now);

/// A pod of that name and revision, ready to create. `instance`: the last five characters of the name.
kube::Object make_clone_pod(const kube::Object& set, const CloneSetSpec& spec, const json::Value& pod_template,
                            const std::string& name, const std::string& revision);

/// Pods could not be made, deleted or updated.
struct CloneSetFailure {
  std::string type;  // condition FailedScale or FailedUpdate
  std::string message;
};
/// The whole status. The current revision becomes the update revision once all pods there are to be have it.
json::Value clone_set_status(const kube::Object& set, const CloneSetSpec& spec, const CloneSetRevisions& revisions,
                             const std::vector<kube::Object>& pods, const std::optional<CloneSetFailure>& failure,
                             const Now& now);

}  // namespace slipway::cluster

// What a Deployment's spec and the annotations of its ReplicaSets say, with the API's defaults (apps/v1;
// kube-controller-manager's deployment utilities). Pure reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

inline constexpr std::string_view kTemplateHash = "pod-template-hash";
inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";

/// spec of a Deployment, decoded once.
struct DeploymentSpec {
  explicit DeploymentSpec(const kube::Object& deployment);

  std::int64_t replicas;
  bool is_rolling;  // else Recreate
  bool is_paused;
  std::int64_t max_surge;        // pods above `replicas`; a percentage is rounded up
  std::int64_t max_unavailable;  // at most `replicas`; rounded down; 1 when both would be 0
  std::int64_t min_ready_seconds;
  std::optional<std::int64_t> history_limit;  // nullopt: keep all
  std::optional<Duration> progress_deadline;  // nullopt: never too late

  std::int64_t max_replicas() const { return replicas + max_surge; }
  std::int64_t min_available() const { return replicas - max_unavailable; }
};

/// IntOrString against a total: 3, "25%". 0 for what is neither.
std::int64_t resolve_share(const json::Value& share, std::int64_t total, bool rounds_up);

/// Created earlier; among equals by name.
bool is_older(const kube::Object& left, const kube::Object& right);

/// Equal but for the label pod-template-hash.
bool are_equal_templates(const json::Value& left, const json::Value& right);
/// The value of pod-template-hash: a hash of the template and of status.collisionCount.
/// DIVERGES: the value is not Go's, which depends on how Go prints its structs; nothing but its being stable is relied upon.
std::string template_hash(const kube::Object& deployment);
/// Whole number of an annotation, 0 when absent or wrong.
std::int64_t number_annotation(const kube::Object& object, std::string_view key);
/// The annotations that a ReplicaSet takes over from its Deployment: all but those of kubectl apply and of the controller.
json::Value inherited_annotations(const kube::Object& deployment);
/// The ReplicaSet of the Deployment's present template, ready to create but for its size and revision.
kube::Object make_replica_set(const kube::Object& deployment);

}  // namespace slipway::cluster

// The status of a Deployment from its ReplicaSets: counts, and the conditions Available, Progressing and ReplicaFailure with
// the reasons of kube-controller-manager, which `kubectl rollout status` and health checks read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wall_steps.h"
#include "cluster/deployment_facts.h"
#include "kube/object.h"

namespace slipway::cluster {

/// What there is to count.
struct RolloutCensus {
  std::vector<kube::Object> sets{};  // all that are owned
  std::string new_set{};             // name of the one of the present template; empty: none
  std::int64_t wanted = 0;           // sum of spec.replicas, as they will be
  bool was_created = false;          // new_set was made by this very plan
};

/// Only counts and Available: for Deployments that are paused, scaled or deleted.
json::Value counted_status(const kube::Object& deployment, const RolloutCensus& census, Time now);
/// Counts, and how the rollout goes on: Progressing and ReplicaFailure.
json::Value rollout_status(const kube::Object& deployment, const RolloutCensus& census, const Now& now);
/// Progressing becomes Unknown, DeploymentPaused or DeploymentResumed, as spec.paused changes; the status otherwise as it is.
json::Value paused_status(const kube::Object& deployment, Time now);
/// The new ReplicaSet could not be made: Progressing False, ReplicaSetCreateError. Null when that is said already.
json::Value create_failure_status(const kube::Object& deployment, std::string_view set, const std::string& message, Time now);
/// When the progress deadline is to be looked at again; nullopt when there is nothing to judge.
std::optional<Duration> until_deadline(const kube::Object& deployment, const json::Value& status, const Now& now);
/// All pods are of the present template and available, and the controller has seen the present spec.
bool is_complete_rollout(const kube::Object& deployment, const json::Value& status);

}  // namespace slipway::cluster

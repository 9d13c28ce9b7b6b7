// The controllers that make an API server a cluster, as one list.
#pragma once

#include <vector>

#include "cluster/pod_runtime.h"
#include "control/runtime.h"

namespace slipway::cluster {

struct ClusterOptions {
  /// Runs pods; null: pods are left alone. Outlives the controllers.
  PodRuntime* pods = nullptr;
};

/// CustomResourceDefinitions of the kinds beside the built-in ones that the controllers keep (OpenKruise's). They are applied
/// to a cluster of our own before its controllers start, and to no other: there other controllers have these kinds.
std::vector<json::Value> cluster_definitions();

/// Adds Job, ReplicaSet, Deployment, StatefulSet, DaemonSet, CloneSet, pod, claim, namespace, definition and event controllers
/// and garbage collection for the cluster of that name.
void add_cluster_controllers(Env& env, control::Runtime& runtime, const std::string& cluster, ClusterOptions options);

}  // namespace slipway::cluster

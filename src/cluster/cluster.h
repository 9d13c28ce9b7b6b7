// The controllers that make an API server a cluster, as one list.
#pragma once

#include <vector>

#include "cluster/garbage_collector.h"
#include "cluster/pod_runtime.h"
#include "control/controller.h"

namespace slipway::cluster {

struct ClusterOptions {
  /// Runs pods; null: pods are left alone. Outlives the controllers.
  PodRuntime* pods = nullptr;
  /// Custom kinds that take part in garbage collection and go with their namespace.
  std::vector<OwnableKind> custom_kinds{};
};

/// Adds Job, ReplicaSet, Deployment, pod, claim, namespace and definition controllers and garbage collection.
void add_cluster_controllers(Env& env, control::Runtime& runtime, ClusterOptions options);

}  // namespace slipway::cluster

#include "cluster/cluster.h"

#include <algorithm>

#include "cluster/claim.h"
#include "cluster/definition.h"
#include "cluster/deployment.h"
#include "cluster/job.h"
#include "cluster/names.h"
#include "cluster/namespace.h"
#include "cluster/pod.h"
#include "cluster/replica_set.h"
#include "kube/builtin.h"

namespace slipway::cluster {

namespace {

std::vector<OwnableKind> built_in_kinds() {
  return {{kPods, "Pod", true},
          {kJobs, "Job", true},
          {kReplicaSets, "ReplicaSet", true},
          {kDeployments, "Deployment", true},
          {kConfigMaps, "ConfigMap", true},
          {kSecrets, "Secret", true},
          {kClaims, "PersistentVolumeClaim", true},
          {kNamespaces, "Namespace", false}};
}

}  // namespace

void add_cluster_controllers(Env& env, control::Runtime& runtime, ClusterOptions options) {
  std::vector<OwnableKind> kinds = built_in_kinds();
  kinds.insert(kinds.end(), options.custom_kinds.begin(), options.custom_kinds.end());
  std::vector<kube::Resource> watched;
  for (const OwnableKind& kind : kinds) {
    if (kind.is_namespaced) watched.push_back(kind.resource);
  }
  std::vector<kube::Resource> contents = watched;
  for (const kube::ResourceType& type : kube::builtin_types()) {
    const bool is_known = std::ranges::find(contents, type.resource) != contents.end();
    if (type.is_namespaced && !is_known) contents.push_back(type.resource);
  }

  runtime.add(std::make_unique<JobController>(env));
  runtime.add(std::make_unique<ReplicaSetController>(env));
  runtime.add(std::make_unique<DeploymentController>(env));
  if (options.pods != nullptr) runtime.add(std::make_unique<PodController>(env, *options.pods));
  runtime.add(std::make_unique<ClaimController>(options.pods));
  runtime.add(std::make_unique<NamespaceController>(std::move(contents), std::move(watched)));
  runtime.add(std::make_unique<DefinitionController>());
  for (auto& controller : GarbageCollector::make_all(env, std::move(kinds))) runtime.add(std::move(controller));
}

}  // namespace slipway::cluster

#include "cluster/cluster.h"

#include <algorithm>

#include "cluster/advanced_statefulset.h"
#include "cluster/claim.h"
#include "cluster/clone_set.h"
#include "cluster/cron_job.h"
#include "cluster/daemonset.h"
#include "cluster/definition.h"
#include "cluster/deployment.h"
#include "cluster/disruption.h"
#include "cluster/endpoints_controller.h"
#include "cluster/event_expiry.h"
#include "cluster/garbage_collector.h"
#include "cluster/hpa.h"
#include "cluster/job.h"
#include "cluster/names.h"
#include "cluster/namespace.h"
#include "cluster/pod.h"
#include "cluster/replica_set.h"
#include "cluster/statefulset.h"
#include "kube/builtin.h"

namespace slipway::cluster {

namespace {

/// What a namespace that goes holds: its controller is told by caches when something of `watched` has gone, and looks again for
/// the rest.
struct Contents {
  std::vector<kube::Resource> watched{kPods,       kJobs,       kReplicaSets, kDeployments, kStatefulSets,
                                      kDaemonSets, kConfigMaps, kSecrets,     kClaims};
  std::vector<kube::Resource> all = watched;

  Contents() {
    for (const kube::ResourceType& type : kube::builtin_types()) {
      const bool is_known = std::ranges::find(all, type.resource) != all.end();
      if (type.is_namespaced && !is_known) all.push_back(type.resource);
    }
  }
};

}  // namespace

std::vector<json::Value> cluster_definitions() { return {clone_set_definition(), advanced_statefulset_definition()}; }

void add_cluster_controllers(Env& env, control::Runtime& runtime, const std::string& cluster, ClusterOptions options) {
  const auto add = [&](std::unique_ptr<control::Controller> controller) { runtime.add(cluster, std::move(controller)); };
  Contents contents;
  add(std::make_unique<JobController>(env));
  add(std::make_unique<CronJobController>(env));
  add(std::make_unique<ReplicaSetController>(env));
  add(std::make_unique<DeploymentController>(env));
  add(std::make_unique<StatefulSetController>(env));
  add(std::make_unique<StatefulSetController>(env, StatefulKind::Advanced));
  add(std::make_unique<DaemonSetController>(env));
  add(std::make_unique<CloneSetController>(env));
  if (options.pods != nullptr) add(std::make_unique<PodController>(env, *options.pods));
  add(std::make_unique<ClaimController>(options.pods));
  add(std::make_unique<NamespaceController>(env, std::move(contents.all), std::move(contents.watched)));
  add(std::make_unique<DefinitionController>());
  add(std::make_unique<EventExpiry>(env));
  add(std::make_unique<GarbageCollector>(env));
  add(std::make_unique<EndpointSliceController>(env));
  add(std::make_unique<EndpointsController>());
  add(std::make_unique<DisruptionController>(env));
  add(std::make_unique<AutoscalerController>(env));
}

}  // namespace slipway::cluster

// Open Cluster Management's way to a managed cluster: a ManifestWork (work.open-cluster-management.io/v1) in the namespace of
// the cluster on the hub holds the objects, an agent applies them there and says so in its conditions Applied and Available.
// The ManifestWorks are objects of the Application like any other: recorded in its trackers, repaired, collected.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"
#include "delivery/application/render.h"

namespace slipway::delivery::application {

/// The ManagedClusters that the hub has accepted, with their labels; nothing where the hub serves no ManifestWork.
Task<Result<std::optional<std::vector<ClusterEntry>>>> managed_clusters(AppRun& run);

/// What each managed cluster is to hold.
class WorkPlan {
 public:
  explicit WorkPlan(const kube::Object& application) : application_(application) {}

  /// Invalid for traits that need the live workload: it is not visible here.
  Result<void> add(const std::string& cluster, const RenderedComponent& rendered);
  /// One ManifestWork per cluster, called NAMESPACE.NAME of the Application, and what belongs on the hub itself.
  std::vector<Manifest> manifests() const;

 private:
  kube::Object application_;
  std::map<std::string, json::ArrayBuilder> objects_;
  std::vector<Manifest> on_hub_;
};

struct WorkState {
  workflow::ResourceRef reference;
  std::string wait;  // why it is not done; empty: the agent has applied all and all is there
};

Task<Result<std::vector<WorkState>>> apply_works(AppRun& run, const WorkPlan& plan);

}  // namespace slipway::delivery::application

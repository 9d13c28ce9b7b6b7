// The controller of GitopsCluster: the kubeconfig in the Secret that an object names becomes a cluster that everything in this
// process can reach, named cluster_name(). A Secret whose content changes makes another client; an object that goes takes its
// cluster with it. Nothing is durable: after a restart all is found in the objects again. What the conditions say: Ready, there
// is a kubeconfig that can be used, and until when its credentials last; ClusterConnectivity, the cluster answers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/pipeline/credentials.h"
#include "delivery/pipeline/spec.h"

namespace slipway::delivery::pipeline {

class GitopsClusterController : public control::Controller {
 public:
  explicit GitopsClusterController(const ControllerContext& context)
      : env_(context.env), acts_as_(context.acts_as), registry_(context.clusters) {}

  std::string name() const override { return "gitops-cluster"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// How a cluster is reached now.
  struct Known {
    std::string digest{};  // of the kubeconfig
    std::optional<Expiry> expiry{};
    std::optional<Status> problem{};  // the kubeconfig cannot be used
    std::string lacks_right{};        // kAuthorLacksRight or kAuthorUnknown: its author may not get the Secret
    bool has_answered = false;
    kube::ObjectKey secret{};
  };

  void forget(const kube::ObjectKey& key);
  void connect(const kube::ObjectKey& key, Known& known, const std::string& kubeconfig);
  void disconnect(const kube::ObjectKey& key, Known& known, Status why);
  Task<> probe(kube::ObjectKey key);
  std::vector<kube::Condition> conditions(const kube::ObjectKey& key, const Known& known) const;
  Duration pause(const kube::ObjectKey& key, const Known& known) const;
  std::string cluster_of(const kube::ObjectKey& key) const;

  Env& env_;
  ActsAs acts_as_;
  control::ClusterRegistry* registry_;
  control::Watches* watches_ = nullptr;
  control::Informer* objects_ = nullptr;
  control::InformerLease secrets_{};
  control::Clusters::Subscription subscription_{};
  std::map<kube::ObjectKey, Known> known_{};
  std::map<kube::ObjectKey, std::set<kube::ObjectKey>> by_secret_{};
};

}  // namespace slipway::delivery::pipeline

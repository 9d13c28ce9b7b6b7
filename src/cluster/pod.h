// The pod controller: what a node's agent does for its pods, through one PodRuntime. It starts pods as soon as they are seen,
// keeps their status, ends those that are being deleted and lets their objects go.
//
// DIVERGES: there is no scheduler. On a cluster of one node admission (admission.h) puts the node's name into pods as they are
// created, which saves a write per pod. Where there are several nodes, and for a pod that cordon or taints kept away, that is
// done here (placement.h): pods are counted per node, those on their way included, so that they spread evenly.
#pragma once

#include <map>
#include <string>

#include "cluster/placement.h"
#include "cluster/pod_runtime.h"
#include "control/controller.h"

namespace slipway::cluster {

class PodController : public control::Controller {
 public:
  /// `runtime` outlives the controller.
  PodController(Env& env, PodRuntime& runtime) : env_(env), runtime_(runtime) {}

  std::string name() const override { return "pod"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Task<Result<void>> forget(kube::ObjectKey key, std::string uid);
  Task<Result<void>> forget_strays();
  /// A pod without a node: it gets the name of one, or says why not.
  Task<control::Outcome> place_pod(client::Client& client, kube::Object pod);
  std::vector<NodeLoad> node_loads() const;
  /// True when a node has got room.
  bool count_pod(const kube::Object& before, const kube::Object& after);
  Task<control::Outcome> run_pod(client::Client& client, kube::Object pod);
  Task<Result<void>> warn(client::Client& client, kube::Object pod, PodWarning warning);
  Task<control::Outcome> finish_pod(client::Client& client, kube::Object pod);

  Env& env_;
  PodRuntime& runtime_;
  control::Informer* pods_ = nullptr;
  control::Informer* nodes_ = nullptr;
  std::map<kube::ObjectKey, std::string> uids_;     // of pods that the runtime knows
  std::map<kube::ObjectKey, std::string> warned_;   // what was told last of a pod
  std::map<std::string, std::int64_t> loads_;       // pods by node, in the cache
  std::map<kube::ObjectKey, std::string> placing_;  // pods whose node was written and is not in the cache yet
  bool has_swept_ = false;
};

}  // namespace slipway::cluster

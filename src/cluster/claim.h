// PersistentVolumeClaims are bound as soon as they are seen: a claim is a folder that the process runtime makes when a pod
// first uses it (DIVERGES: there are no PersistentVolumes). A claim that is deleted is held by kClaimProtection, which it gets
// as it is created (admission.h), until no pod uses it; then the folder is removed, and only after it the finalizer. So a new
// claim of the name never finds old files, wherever the process ends in between.
#pragma once

#include "cluster/pod_runtime.h"
#include "control/controller.h"

namespace slipway::cluster {

class ClaimController : public control::Controller {
 public:
  /// `pods` keeps what claims hold, and outlives the controller; null: nothing is kept.
  explicit ClaimController(PodRuntime* pods = nullptr) : runtime_(pods) {}

  std::string name() const override { return "claim"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Task<control::Outcome> let_go(client::Client& client, kube::Object claim);
  bool is_used(const kube::ObjectKey& claim) const;

  PodRuntime* runtime_;
  control::Informer* claims_ = nullptr;
  control::Informer* pods_ = nullptr;
};

}  // namespace slipway::cluster

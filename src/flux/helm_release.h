// Carries out what release_plan.h decides, for every HelmRelease of a cluster.
#pragma once

#include "control/controller.h"

namespace slipway::flux {

class HelmReleaseController : public control::Controller {
 public:
  explicit HelmReleaseController(Env& env) : env_(env) {}

  std::string name() const override { return "helm-controller"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// Where a release's chart comes from.
  struct Source {
    kube::Object object;
    std::string id;       // "HelmChart 'ns/name'"
    std::string chart{};  // of the HelmChart that was made: "ns/name"
  };
  Task<Result<Source>> source_of(client::Client& client, kube::Object release);
  Task<control::Outcome> uninstall(control::Reconcile& run, kube::Object release);

  Env& env_;
  control::Informer* releases_ = nullptr;
  control::Informer* deployments_ = nullptr;
  control::Informer* charts_ = nullptr;
  control::Informer* oci_repositories_ = nullptr;
};

}  // namespace slipway::flux

// Carries out what release_plan.h decides, for every HelmRelease of a cluster, with the rights of its author or service account
// (author.h). While these lack a right it waits with the reason AuthorLacksRight, and begins no action.
#pragma once

#include "control/controller.h"
#include "flux/author.h"

namespace slipway::flux {

class HelmReleaseController : public control::Controller {
 public:
  HelmReleaseController(Env& env, delivery::ActsAs acts_as) : env_(env), acts_as_(acts_as) {}

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
  /// `client` acts as the author.
  Task<Result<Source>> source_of(client::Client& client, kube::Object release);
  Task<control::Outcome> uninstall(control::Reconcile& run, kube::Object release);
  /// From the source on. REQUIRES: the release is live and has the finalizer.
  Task<control::Outcome> deliver(control::Reconcile& run, Acting acting, kube::Object release);
  /// Carries out what is decided for a source that is ready.
  Task<control::Outcome> act(control::Reconcile& run, Acting acting, kube::Object release, Source source);
  /// Ends the reconcile after an error: says in the status which right `user` lacks, if it is that.
  Task<control::Outcome> fail_or_wait(control::Reconcile& run, kube::Object release, Status error,
                                      std::shared_ptr<const kube::UserInfo> user);

  Env& env_;
  delivery::ActsAs acts_as_;
  control::Informer* releases_ = nullptr;
  control::Informer* deployments_ = nullptr;
  control::Informer* charts_ = nullptr;
};

}  // namespace slipway::flux

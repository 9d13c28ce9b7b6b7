// Applies the YAML files below spec.path of a GitRepository's revision, and deletes what it had applied and is gone
// (spec.prune), all with the rights of the Kustomization's author or service account (author.h). What it applied stands in
// status.inventory, as `<namespace>_<name>_<group>_<kind>` and version.
#pragma once

#include "base/git.h"
#include "control/controller.h"
#include "delivery/family/kind_mapper.h"
#include "flux/author.h"

namespace slipway::flux {

class KustomizationController : public control::Controller {
 public:
  KustomizationController(Env& env, delivery::ActsAs acts_as) : env_(env), acts_as_(acts_as) {}

  std::string name() const override { return "kustomize-controller"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  struct Entry {
    std::string id;
    std::string version;

    auto operator<=>(const Entry&) const = default;
  };
  /// The objects of a revision, labelled as this Kustomization's. Errors name the file. `client` reads the source's Secret.
  Task<Result<std::vector<kube::Object>>> build(client::Client& client, kube::Object object, kube::Object source,
                                                std::string revision);
  Task<Result<std::vector<Entry>>> apply(control::Reconcile& run, Acting acting, kube::Object object,
                                         std::vector<kube::Object> manifests);
  Task<Result<void>> prune(control::Reconcile& run, Acting acting, json::Value inventory, std::vector<Entry> kept);
  Task<control::Outcome> remove(control::Reconcile& run, kube::Object object);
  /// From the source on. REQUIRES: the object is live and has the finalizer.
  Task<control::Outcome> deliver(control::Reconcile& run, Acting acting, kube::Object object);

  Env& env_;
  delivery::ActsAs acts_as_;
  delivery::KindMapper kinds_;
  control::Informer* objects_ = nullptr;
};

}  // namespace slipway::flux

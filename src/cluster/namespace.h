// The end of namespaces: when one is being deleted its contents are deleted, pods first, and when nothing is left the namespace
// is finalized (spec.finalizers loses "kubernetes"). While something is left, its conditions say what (namespace_status.h).
#pragma once

#include <string>
#include <vector>

#include "cluster/namespace_status.h"
#include "control/controller.h"

namespace slipway::cluster {

class NamespaceController : public control::Controller {
 public:
  /// `contents`: every namespaced resource that is known beforehand; what CustomResourceDefinitions define comes to them. Those
  /// of `watched` tell by their caches when one of them has gone.
  NamespaceController(Env& env, std::vector<kube::Resource> contents, std::vector<kube::Resource> watched)
      : env_(env), contents_(std::move(contents)), watched_(std::move(watched)) {}

  std::string name() const override { return "namespace"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Task<Result<void>> empty_all(client::Client& client, std::string ns, NamespaceRemains& remains);
  Task<Result<void>> tell(client::Client& client, kube::Object space, const NamespaceRemains& remains);

  Env& env_;
  std::vector<kube::Resource> contents_;
  std::vector<kube::Resource> watched_;
  control::Informer* namespaces_ = nullptr;
};

}  // namespace slipway::cluster

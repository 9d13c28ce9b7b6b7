// The end of namespaces: when one is being deleted its contents are deleted, and when nothing is left the namespace is
// finalized (spec.finalizers loses "kubernetes").
#pragma once

#include <string>
#include <vector>

#include "control/controller.h"

namespace slipway::cluster {

class NamespaceController : public control::Controller {
 public:
  /// `contents`: every namespaced resource that is known beforehand; what CustomResourceDefinitions define comes to them. Those
  /// of `watched` tell by their caches when one of them has gone.
  NamespaceController(std::vector<kube::Resource> contents, std::vector<kube::Resource> watched)
      : contents_(std::move(contents)), watched_(std::move(watched)) {}

  std::string name() const override { return "namespace"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  std::vector<kube::Resource> contents_;
  std::vector<kube::Resource> watched_;
  control::Informer* namespaces_ = nullptr;
};

}  // namespace slipway::cluster

// PersistentVolumeClaims are bound as soon as they are seen: a claim is a folder that the process runtime makes when a pod
// first uses it (DIVERGES: there are no PersistentVolumes). When the claim goes its folder goes too.
#pragma once

#include <functional>

#include "control/controller.h"

namespace slipway::cluster {

class ClaimController : public control::Controller {
 public:
  /// Removes what is kept for a claim that is gone.
  using Release = std::function<Result<void>(const kube::ObjectKey& claim)>;

  explicit ClaimController(Release release = {}) : release_(std::move(release)) {}

  std::string name() const override { return "claim"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Release release_;
  control::Informer* claims_ = nullptr;
};

}  // namespace slipway::cluster

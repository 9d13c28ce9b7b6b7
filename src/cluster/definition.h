// The end of CustomResourceDefinitions: all custom objects are deleted before the definition goes. The server puts the
// finalizer on a definition when its deletion begins; it is taken off here.
#pragma once

#include "control/controller.h"

namespace slipway::cluster {

class DefinitionController : public control::Controller {
 public:
  std::string name() const override { return "definition"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  control::Informer* definitions_ = nullptr;
};

}  // namespace slipway::cluster

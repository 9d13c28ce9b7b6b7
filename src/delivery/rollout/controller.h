// The controller of the rollout kinds, one instance for each. A reconcile looks at the workloads in caches, lets delivery/wave
// decide, makes the decision durable in the status and then carries it out (pass.h). Nothing is kept between reconciles but
// answers of gates that were not recorded yet, which are asked again after a crash; a rollout that has ended costs nothing.
#pragma once

#include <map>
#include <string>

#include "control/controller.h"
#include "delivery/family.h"
#include "delivery/rollout/pass.h"
#include "delivery/rollout/workload_cache.h"

namespace slipway::delivery::rollout {

class RolloutController : public control::Controller {
 public:
  /// `name` is the controller's, "rollout-trait".
  RolloutController(const ControllerContext& context, std::string name, kube::Resource resource);

  std::string name() const override { return name_; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Env& env_;
  WallSteps wall_;
  HttpClient* http_;
  ActsAs acts_as_;
  std::string name_;
  kube::Resource resource_;
  control::Informer* rollouts_ = nullptr;
  WorkloadCache workloads_;
  std::map<kube::ObjectKey, Memory> memories_;
};

}  // namespace slipway::delivery::rollout

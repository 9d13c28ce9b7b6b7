// The Deployment controller: replaces the pods of an old template by those of a new one, through ReplicaSets. What to do is
// decided by plan_rollout() (deployment_plan.h); what its status says by deployment_status.h.
#pragma once

#include <memory>

#include "base/wall_steps.h"
#include "control/controller.h"

namespace slipway::cluster {

struct RolloutPlan;

class DeploymentController : public control::Controller {
 public:
  explicit DeploymentController(Env& env) : env_(env), wall_(env.clock) {}

  std::string name() const override { return "deployment"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  std::vector<kube::ObjectKey> waiting_deployment_of(const kube::Object& pod) const;
  Task<Result<void>> carry_out(client::Client& client, kube::Object deployment, std::shared_ptr<const RolloutPlan> plan);
  Task<Result<void>> create_set(client::Client& client, kube::Object deployment, kube::Object set);

  Env& env_;
  WallSteps wall_;
  control::Informer* deployments_ = nullptr;
  control::Informer* sets_ = nullptr;
  control::Informer* pods_ = nullptr;
};

}  // namespace slipway::cluster

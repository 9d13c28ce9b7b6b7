// The DaemonSet controller: one pod per node. What to do is decided by plan_daemon_set() (daemonset_plan.h), which templates
// there were by controller_revision.h, whom pods belong to by sort_claim() (adoption.h).
//
// DIVERGES: no SuccessfulCreate and SuccessfulDelete events, as for the other workloads here.
#pragma once

#include <memory>

#include "base/wall_steps.h"
#include "cluster/daemonset_plan.h"
#include "control/controller.h"

namespace slipway::cluster {

class DaemonSetController : public control::Controller {
 public:
  explicit DaemonSetController(Env& env) : env_(env), wall_(env.clock) {}

  std::string name() const override { return "daemonset"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Task<control::Outcome> sync(client::Client& client, DaemonSetView view, std::vector<kube::Object> revisions);
  Task<Result<void>> carry_out(client::Client& client, std::shared_ptr<const DaemonSetView> view,
                               std::shared_ptr<const DaemonSetPlan> plan);

  Env& env_;
  WallSteps wall_;
  control::Informer* sets_ = nullptr;
  control::Informer* pods_ = nullptr;
  control::Informer* nodes_ = nullptr;
  control::Informer* revisions_ = nullptr;
};

}  // namespace slipway::cluster

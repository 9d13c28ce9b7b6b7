// The CloneSet controller: keeps as many pods as asked for, and brings them to the present template by replacing them or in
// place. What to do is decided by plan_clone_set() (clone_set_plan.h); templates are kept as ControllerRevisions.
//
// DIVERGES from OpenKruise: no events for single pods; names that no pod has are left in scaleStrategy.podsToDelete, since
// names are never used again (pod_numbers.h).
#pragma once

#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "cluster/clone_set_plan.h"
#include "cluster/pod_numbers.h"
#include "control/controller.h"

namespace slipway::cluster {

class CloneSetController : public control::Controller {
 public:
  explicit CloneSetController(Env& env) : env_(env), wall_(env.clock) {}

  std::string name() const override { return "cloneset"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  struct Sight;
  Task<Result<CloneSetRevisions>> revisions_of(client::Client& client, kube::Object set);
  Task<control::Outcome> carry_out(client::Client& client, Sight sight);
  Task<Result<void>> scale(client::Client& client, Sight sight, CloneSetPlan plan, PodNumbers numbers);
  Task<Result<void>> update(client::Client& client, CloneSetPlan plan);
  Task<Result<void>> remove_surplus(client::Client& client, Sight sight);

  Env& env_;
  WallSteps wall_;
  KnownPodNumbers known_;
  control::Informer* sets_ = nullptr;
  control::Informer* pods_ = nullptr;
  control::Informer* history_ = nullptr;
};

}  // namespace slipway::cluster

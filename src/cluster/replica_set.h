// The ReplicaSet controller: keeps as many pods of a template as asked for. What to do is decided by plan_replica_set()
// (replica_set_plan.h), whom the pods belong to by sort_claim() (adoption.h).
//
// DIVERGES: no SuccessfulCreate and SuccessfulDelete events, which would double the writes of a scaling.
#pragma once

#include <string>

#include "base/wall_steps.h"
#include "cluster/replica_set_plan.h"
#include "control/controller.h"

namespace slipway::cluster {

class ReplicaSetController : public control::Controller {
 public:
  explicit ReplicaSetController(Env& env) : env_(env), wall_(env.clock) {}

  std::string name() const override { return "replicaset"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  std::vector<kube::Object> candidates(const kube::Object& set) const;
  Task<control::Outcome> carry_out(client::Client& client, kube::Object set, std::vector<kube::Object> pods);
  Task<Result<void>> remove_pods(client::Client& client, std::vector<kube::Object> pods);

  Env& env_;
  WallSteps wall_;
  KnownPodNumbers known_;
  control::Informer* sets_ = nullptr;
  control::Informer* pods_ = nullptr;
};

}  // namespace slipway::cluster

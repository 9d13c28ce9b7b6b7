// The controller of PodDisruptionBudgets: keeps their status (disruption_plan.h) as their pods change. How many pods are wanted
// is asked of the pods' controllers: a Deployment behind a ReplicaSet, else whatever has a /scale.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "control/controller.h"

namespace slipway::cluster {

class DisruptionController : public control::Controller {
 public:
  explicit DisruptionController(Env& env) : env_(env), wall_(env.clock) {}

  std::string name() const override { return "disruption"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What the controllers of some pods want.
  struct Wanted {
    std::map<std::string, std::int64_t> by_controller;  // uid to replicas
    bool has_unmanaged = false;

    std::int64_t total() const;
  };
  std::vector<kube::ObjectKey> budgets_of(const kube::Object& pod) const;
  std::vector<kube::Object> pods_of(const kube::Object& budget) const;
  Task<Result<Wanted>> count_wanted(client::Client& client, std::vector<kube::Object> pods);
  /// With what the pod's controller wants, unless it is known.
  Task<Result<Wanted>> add_wanted(client::Client& client, kube::Object pod, Wanted wanted);
  Task<Result<void>> tell(client::Client& client, kube::Object budget, const char* type, const char* reason,
                          std::string message);

  Env& env_;
  WallSteps wall_;
  control::Informer* budgets_ = nullptr;
  control::Informer* pods_ = nullptr;
  control::Informer* sets_ = nullptr;
  control::Informer* deployments_ = nullptr;
  control::Informer* definitions_ = nullptr;
};

}  // namespace slipway::cluster

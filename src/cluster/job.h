// The Job controller: makes and counts the pods of batch/v1 Jobs. What to do is decided by plan_job() (job_plan.h).
//
// DIVERGES: writes are kept few. A status that would only tell onlookers something (active, ready, startTime) is written after
// a moment, so that a Job whose pod ends at once costs one status write; and there are no SuccessfulCreate and Completed
// events.
#pragma once

#include <map>
#include <memory>

#include "base/wall_steps.h"
#include "control/controller.h"

namespace slipway::cluster {

struct JobPlan;

class JobController : public control::Controller {
 public:
  explicit JobController(Env& env) : env_(env), wall_(env.clock) {}

  std::string name() const override { return "job"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Task<control::Outcome> carry_out(control::Reconcile& run, kube::Object job, std::shared_ptr<const JobPlan> plan);
  Task<Result<void>> release_orphans(client::Client& client, std::vector<kube::Object> pods);
  bool is_status_due(const kube::ObjectKey& key, const JobPlan& plan);

  Env& env_;
  WallSteps wall_;
  control::Informer* jobs_ = nullptr;
  control::Informer* pods_ = nullptr;
  /// Since when a status write has been waiting for company.
  std::map<kube::ObjectKey, Steady> waiting_since_;
};

}  // namespace slipway::cluster

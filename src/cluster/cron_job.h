// The CronJob controller: makes Jobs when their time has come. What to do is decided by plan_cron_job() (cron_plan.h).
#pragma once

#include "control/controller.h"

namespace slipway::cluster {

class CronJobController : public control::Controller {
 public:
  explicit CronJobController(Env& env) : env_(env) {}

  std::string name() const override { return "cronjob"; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  Env& env_;
  control::Informer* crons_ = nullptr;
  control::Informer* jobs_ = nullptr;
};

}  // namespace slipway::cluster

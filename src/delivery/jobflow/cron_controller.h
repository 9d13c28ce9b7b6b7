// The CronWorkflow controller: control/cron_controller.h for Workflows. They are created with the rights of the CronWorkflow's
// author, so that admission records this user as their author too.
#pragma once

#include "control/cron_controller.h"
#include "delivery/family.h"

namespace slipway::delivery::jobflow {

class CronWorkflowController : public control::CronController {
 public:
  CronWorkflowController(Env& env, ActsAs acts_as);

 protected:
  Task<Result<kube::Object>> create(client::Client& client, kube::Object cron, kube::Object workflow) override;
  json::Value reported(const kube::Object& cron, json::Value status, const Report& report) const override;

 private:
  ActsAs acts_as_;
};

}  // namespace slipway::delivery::jobflow

#include "delivery/jobflow/cron_controller.h"

#include "delivery/jobflow/author_client.h"
#include "delivery/jobflow/cron_workflow.h"

namespace slipway::delivery::jobflow {

CronWorkflowController::CronWorkflowController(Env& env, ActsAs acts_as)
    : CronController(env, cron_workflow_kind()), acts_as_(acts_as) {}

Task<Result<kube::Object>> CronWorkflowController::create(client::Client& client, kube::Object cron, kube::Object workflow) {
  control::ActingClient author = as_author(client, cron, acts_as_);
  co_return co_await client::create(author, kWorkflows, std::move(workflow), kind_.manager);
}

Value CronWorkflowController::reported(const kube::Object&, Value status, const Report& report) const {
  status = report.next ? status.with("nextScheduleTime", to_rfc3339(*report.next)) : status.without("nextScheduleTime");
  const bool is_stalled = !report.reason.empty();
  const bool was_stalled =
      std::ranges::any_of(status["conditions"].items(), [](const Value& one) { return one["type"].as_string() == kStalled; });
  if (!is_stalled && !was_stalled) return status;
  const kube::Condition condition = is_stalled
                                        ? kube::Condition{kStalled, "True", report.reason, report.message}
                                        : kube::Condition{kStalled, "False", "Scheduled", "Workflows start when they are due"};
  return status.with("conditions", kube::set_condition(status["conditions"], condition, env_.clock.now()));
}

}  // namespace slipway::delivery::jobflow

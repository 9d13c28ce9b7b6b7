#include "delivery/workflow/run_status.h"

namespace slipway::delivery::workflow {

bool is_finished(const SubStepStatus& step) {
  if (step.phase == kSucceeded || step.phase == kSkipped) return true;
  return step.phase == kFailed && !step.reason.empty() && step.reason != kReasonExecute;
}

void settle_end(RunStatus& status) {
  status.is_suspended = false;
  if (status.phase == kFailed || status.phase == kTerminated) status.is_terminated = true;
}

const SubStepStatus* RunStatus::find(std::string_view name) const {
  for (const StepStatus& step : steps) {
    if (step.name == name) return &step;
    for (const SubStepStatus& sub : step.sub_steps) {
      if (sub.name == name) return &sub;
    }
  }
  return nullptr;
}

}  // namespace slipway::delivery::workflow

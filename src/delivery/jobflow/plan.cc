#include "delivery/jobflow/plan.h"

namespace slipway::delivery::jobflow {

Actions plan(const Observed& observed, Time now) {
  const auto program = Program::compile(observed.workflow);
  if (!program) {
    Actions actions;
    actions.status = invalid_status(observed.workflow, program.error(), now);
    return actions;
  }
  Flow flow(*program, observed.workflow, observed.step_sets);
  for (const auto& job : observed.jobs) flow.see_job(job_view(job));
  flow.decide(now);
  for (;;) {
    const auto unseen = flow.unseen_externals();
    if (unseen.empty()) break;
    for (graph::StepIndex step : unseen) flow.see_external(step, observed.external(flow.program().step(step)));
    flow.decide(now);
  }
  return flow.take(now);
}

}  // namespace slipway::delivery::jobflow

// What to do for a workflow, as a pure function of everything there is to see. Decide apart from doing: tests are tables over
// this, and Flow (flow.h), which the controller keeps between reconciles, must say the same.
#pragma once

#include <functional>
#include <vector>

#include "delivery/jobflow/flow.h"

namespace slipway::delivery::jobflow {

struct Observed {
  kube::Object workflow;
  std::vector<Value> step_sets;    // WorkflowStepSets it owns
  std::vector<kube::Object> jobs;  // Jobs it owns
  /// What is seen of a step's external object. Not asked for other steps.
  std::function<ExternalView(const Step& step)> external;
};

Actions plan(const Observed& observed, Time now);

}  // namespace slipway::delivery::jobflow

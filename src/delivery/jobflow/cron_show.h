// CronWorkflows as people read them: pure functions from objects to text and waits.
#pragma once

#include <string>
#include <vector>

#include "control/explain.h"

namespace slipway::delivery::jobflow {

/// Schedule, times, the Workflows it has started (newest first, with their state) and the events in the order given.
std::string describe_cron(const kube::Object& cron, const control::View& view, const std::vector<kube::Object>& events);

/// What the next Workflow waits for: what stalls the schedule, a suspension, the Workflows that run, or the time it is due.
std::vector<control::Wait> explain_cron(const kube::Object& cron, const control::View& view);

}  // namespace slipway::delivery::jobflow

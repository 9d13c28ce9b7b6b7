// What people do to a run of a workflow from the command line: suspend, resume, terminate, restart (from a step) and roll back,
// for Applications and WorkflowRuns. Each reads the object, decides with the pure operations of delivery/workflow/engine.h and
// writes the status as a PUT of what was read, so that no write is lost: after a conflict it looks again.
#pragma once

#include <vector>

#include "delivery/family.h"

namespace slipway::delivery::application {

std::vector<Action> application_run_actions();
/// As those of Applications, without rollback.
std::vector<Action> workflow_run_actions();

}  // namespace slipway::delivery::application

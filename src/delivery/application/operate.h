// What people ask of a running workflow, as actions of the kinds Application and WorkflowRun: suspend, resume, terminate. Each
// is a write of the status with the version that was read, so that a step that moves on meanwhile is not overwritten.
#pragma once

#include <vector>

#include "delivery/family.h"

namespace slipway::delivery::application {

/// KIND/NAME/STEP names one step, where the operation can be about one.
std::vector<Action> workflow_actions();

}  // namespace slipway::delivery::application

// Writes the plans of rollouts that an application carries into the rollouts which it has made, whatever its workflow does
// meanwhile: a step that waits, a suspension, its end. What a plan may do to a rollout is decided where it is applied
// (rollout_plans.h, with_due_plan) and by the rollout's own rules.
#pragma once

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Does nothing for plans that this process has written already. Errors are those of the writes.
Task<Result<void>> write_plans(AppRun& run);

}  // namespace slipway::delivery::application

// What policies of users' types make: a PolicyDefinition's template may have `output` and `outputs`, as a component's. They are
// applied after rendering and before the first step of a run, in the application's namespace of the hub.
#pragma once

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Applies the outputs of all policies; nothing for an application without such. Errors: Invalid and those of applying, with
/// the policy's name.
Task<Result<void>> apply_policy_outputs(AppRun& run);

}  // namespace slipway::delivery::application

// What policies of users' types make: a PolicyDefinition's template may have `output` and `outputs`, as a component's. They are
// applied after rendering and before the first step of a run, in the application's namespace of the hub.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// The objects of each policy of a user's type that has a template, by the policy's name; the error is that of rendering it.
Task<std::map<std::string, Result<std::vector<Manifest>>>> render_policies(AppRun& run);

/// Applies the outputs of all policies; nothing for an application without such. Errors: Invalid and those of applying, with
/// the policy's name.
Task<Result<void>> apply_policy_outputs(AppRun& run);

}  // namespace slipway::delivery::application

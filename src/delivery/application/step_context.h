// What the template of a step finds in `context` only when it asks for it.
#pragma once

#include "delivery/application/app_run.h"
#include "delivery/application/definition.h"

namespace slipway::delivery::application {

/// `context.workload`, the rendered workload of the application's only component, for a template that names it; else null.
/// Errors: Invalid where there are several components, or none, and those of rendering.
Task<Result<Value>> step_context_of(AppRun& run, DefinitionPtr definition);

}  // namespace slipway::delivery::application

// The CustomResourceDefinitions of the application family, from described structs.
#pragma once

#include <vector>

#include "json/value.h"

namespace slipway::delivery::application {

/// Application, ApplicationRevision, ResourceTracker, the definitions, DefinitionRevision, Policy, Workflow, WorkflowRun and
/// Package, without status.
std::vector<json::Value> custom_resource_definitions();

}  // namespace slipway::delivery::application

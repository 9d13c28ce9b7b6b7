// Components that refer to objects which exist already (type ref-objects): before such a component is rendered, what it names
// is read and put in the place of the names. `resource`, `group`, `name` or `labelSelector`, `namespace`, `cluster`.
#pragma once

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Whether the component's type takes references; others come back as they are.
bool has_references(const ComponentSpec& component);

/// The component with the objects themselves under properties.objects, without what their server keeps about them. Errors:
/// NotFound for an object that is not there, NotImplemented for `urls`.
Task<Result<ComponentSpec>> with_references(AppRun& run, ComponentSpec component);

}  // namespace slipway::delivery::application

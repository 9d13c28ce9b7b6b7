// What steps of a workflow export into a component (#Export with type "patch"): merged into the workload that the component
// renders, from then on and wherever it is delivered. Pure.
#pragma once

#include "base/status.h"
#include "json/value.h"

namespace slipway::delivery::application {

using json::Value;

/// Beside `workload` and `traits` in the patch of a step: what is merged after they were applied.
inline constexpr const char* kExported = "exported";

/// Beside them: {path, value} of the workload, from `patch` of the step apply-component.
inline constexpr const char* kField = "field";
/// The workload with the value at the path. A path that begins with spec.containers, spec.initContainers or spec.volumes means
/// the pod template where the workload has one: spec.template.spec.containers of a Deployment. Errors: BadRequest and Conflict
/// for a path that leads nowhere.
Result<Value> with_field(const Value& workload, const Value& field);

/// Beside them: how many replicas objects have here, the workload's as `workload`, others by RenderedObject::place().
inline constexpr const char* kReplicas = "replicas";
/// The object with that many; null: as it is.
Value with_replicas(const Value& object, const Value& replicas);

/// `change` merged into `base`: members of objects one by one, null takes a member away; lists whose elements all have a `name`
/// pair them by it, new ones come last; anything else is replaced.
Value merge_export(const Value& base, const Value& change);

}  // namespace slipway::delivery::application

// A plan that an object of another family carries, checked by the rules of the rollout that it is for. Pure.
#pragma once

#include "delivery/family.h"

namespace slipway::delivery::rollout {

/// Faults of the plan by itself, and what the rollout refuses while it is under way (admission.h: check_update). After its end
/// nothing is refused: a change waits for the next target, unless it is one of targetSize.
std::vector<Cause> check_plan_edit(const PlanEdit& edit, const kube::FindObject& find);

}  // namespace slipway::delivery::rollout

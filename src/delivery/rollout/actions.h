// The verbs `slipway rollout …` for a rollout that is there. What they ask for lies in the object: a change of the spec, a
// request in an annotation (requests.h), or an approval in the status; whoever may write those may do without the verbs.
#pragma once

#include <vector>

#include "delivery/family.h"

namespace slipway::delivery::rollout {

std::vector<Action> actions();

}  // namespace slipway::delivery::rollout

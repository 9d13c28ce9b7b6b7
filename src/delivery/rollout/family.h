// The family of rollouts: RolloutTrait, Rollout and AppRollout.
#pragma once

#include "delivery/family.h"

namespace slipway::delivery::rollout {

const Family& family();

}  // namespace slipway::delivery::rollout

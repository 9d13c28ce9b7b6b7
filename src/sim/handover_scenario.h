// The scenario about an application whose component is delivered by one way after another: normal delivery, a plan of its own,
// the trait `rollout`, blue-green steps, and normal delivery again in the midst of those.
#pragma once

#include "sim/scenario.h"

namespace slipway::sim {

Scenario handover_scenario();

}  // namespace slipway::sim

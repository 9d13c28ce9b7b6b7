// Scenarios about an application whose component is delivered by one way after another. One has normal delivery, a plan of its
// own, the trait `rollout`, blue-green steps, and normal delivery again in the middle of a plan; the second a template, an
// AppRollout of the user's over a delivered revision, and normal delivery; the third plans that split traffic: one goes back
// because its pods are never ready, the next ends in the middle of its batches, for normal delivery.
#pragma once

#include "sim/scenario.h"

namespace slipway::sim {

Scenario handover_scenario();
Scenario standalone_handover_scenario();
Scenario traffic_handover_scenario();

}  // namespace slipway::sim

// The scenario about rollouts that make their workloads: an AppRollout over revisions of an application, whose configuration
// goes along in copies, and a Rollout of a component whose second revision is bad.
#pragma once

#include "sim/scenario.h"

namespace slipway::sim {

/// The first revision, then the second beside it with another configuration, a hold between its batches; then a component's
/// revision whose pods are never ready, which is undone.
Scenario revision_rollout_scenario();

}  // namespace slipway::sim

// The scenarios about what applications do: one over two clusters that is held up, repaired, upgraded and removed, and a run of
// workflow steps by itself.
#pragma once

#include "sim/scenario.h"

namespace slipway::sim {

/// An application over both clusters: a step that waits for the user, one that fails until its namespace is there, drift in
/// both clusters, an upgrade in the middle of another one's workflow, the second cluster gone while it is needed, and the
/// deletion, which waits for it.
Scenario application_scenario();
/// Steps in a group, of which one fails until its namespace is there and one waits for a time, a step that waits for the user,
/// and one that takes a value from the first.
Scenario workflow_run_scenario();

/// A part of the normalised state: applications and what they keep for themselves, runs, what is in the second cluster, how
/// many objects of each name there ever were, and what the user wrote down.
std::string application_state(World& world);

}  // namespace slipway::sim

// The scenario about an author who loses all rights in the middle of the work: of an Application, a rollout and a graph of
// Jobs. Packages and pipelines, which need git, have theirs in tests/package and tests/pipeline.
#pragma once

#include "sim/scenario.h"

namespace slipway::sim {

/// The role binding goes when each has begun; all hold with AuthorLacksRight, and end once it is back.
Scenario lost_right_scenario();

}  // namespace slipway::sim

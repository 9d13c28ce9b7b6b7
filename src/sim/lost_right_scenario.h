// An author who loses all rights in the middle of the work: the scenario of an Application, a rollout and a graph of Jobs, and
// what the stories of packages and pipelines (tests/package, tests/pipeline), which need git, take from it.
#pragma once

#include <string>

#include "sim/scenario.h"

namespace slipway::sim {

/// Gives all rights in the namespace "default" to the user "dev", and takes them away.
Task<> give_rights(World& world);
Task<> take_rights(World& world);
/// Applies one object (YAML) as "dev", who so becomes its author; into "default".
Task<> apply_as_dev(World& world, std::string yaml);

/// The role binding goes when each has begun; all hold with AuthorLacksRight, and end once it is back.
Scenario lost_right_scenario();

}  // namespace slipway::sim

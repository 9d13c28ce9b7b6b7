// What must hold in the small world (notes on rollouts, §7, with the bounds of docs/rollout.md), and how bugs are planted in
// it. Each check answers with what is wrong; empty: nothing.
#pragma once

#include <string>

#include "delivery/wave/small_world.h"

namespace slipway::delivery::wave {

/// Of what a pass has decided on in a state, before any effect.
std::string check_pass(const Scenario& scenario, const SmallWorld& small, const Decision& decision);
/// Of an effect that was carried out.
std::string check_effect(const Scenario& scenario, const SmallWorld& before, const SmallWorld& after, const Effect& effect);
/// Of a state in which nothing more happens.
std::string check_end(const Scenario& scenario, const SmallWorld& small, const std::vector<Waiting>& waits);
std::string text_of_effect(const Effect& effect);

/// The bug in what decide() is told, and in what it says.
void plant_before(Bug bug, const SmallWorld& small, Settings& settings, World& world);
void plant_after(Bug bug, const SmallWorld& small, Decision& decision);

}  // namespace slipway::delivery::wave

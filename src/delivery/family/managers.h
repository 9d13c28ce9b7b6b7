// The names under which the families that deliver an application's objects write them (field managers).
#pragma once

namespace slipway::delivery {

inline constexpr const char* kApplicationManager = "slipway-application";
inline constexpr const char* kRolloutManager = "slipway-rollout";

}  // namespace slipway::delivery

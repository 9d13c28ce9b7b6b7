// How far a plan goes before each of its approval gates, for admission: a gate protects nothing once the batches before it do
// all the work. Compared are, for each approval gate of the old plan, the new pods that may run before it has passed. Traffic
// is not compared: the step traffic-shift moves it for authors who may not approve. Pure.
//
// Example: of 4 pods, `[{replicas: 1}, {replicas: 3, gates: [leads, before]}]` lets 1 new pod run before 1/before/leads, and
// `[{replicas: 4}, {replicas: 0, gates: [leads, before]}]` lets 4: wider. With replicas 0 and 4 it is 0: narrower.
//
// A pause counts as over in both plans. A partition counts as it is: batches after it do not run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "delivery/rollout/settings.h"

namespace slipway::delivery::rollout {

struct ReadPlan {
  const RolloutPlan& plan;
  const PlanSettings& settings;
};

/// Returns the field path by which `after` is wider before an approval gate than `before`: that of the gate, or of targetSize,
/// since pods that the sources lack are started before the first batch. Nullopt if it is not. `size` is the number of pods that
/// the rollout has recorded, where it has: that of a plan without targetSize. Without both, a plan is compared at many sizes.
std::optional<std::string> widened_reach(const ReadPlan& before, const ReadPlan& after, std::optional<std::int64_t> size);

}  // namespace slipway::delivery::rollout

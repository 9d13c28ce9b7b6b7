// From what users write (spec.h) to what delivery/wave decides on; pure. Hooks and canary metrics become gates; each gate's
// specification is found again by the key under which the roll asks for it.
#pragma once

#include <map>
#include <string>

#include "delivery/rollout/spec.h"

namespace slipway::delivery::rollout {

struct PlanSettings {
  wave::Settings settings;
  /// "before/smoke" of the plan's gates, "3/before/smoke" of those of a batch.
  std::map<std::string, gate::GateSpec> gates;

  /// The gate that a roll asks for by that wave::gate_key; null when the plan has none.
  const gate::GateSpec* find_gate(const std::string& key) const;
};

/// Invalid with one cause for each place that cannot be read, below `field`: amounts, two spellings of the partition that
/// differ, numBatches that is not the number of rolloutBatches. Gates of one moment and name are told apart by "#2" and so on.
Result<PlanSettings> read_plan(const RolloutPlan& plan, wave::Shape shape, const std::string& field = "spec.rolloutPlan");

}  // namespace slipway::delivery::rollout

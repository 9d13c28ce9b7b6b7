// Why a rollout does not go on, or failed: rollout → batch → gate, pods, partition, pause or traffic, and from there to the
// workload that it waits for.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::delivery::rollout {

std::vector<control::ExplainRow> explain_rows();

}  // namespace slipway::delivery::rollout

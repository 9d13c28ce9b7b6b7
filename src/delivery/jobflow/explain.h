// Why a workflow or one of its steps stands as it does (control/explain.h): a workflow waits for steps, a step for steps,
// slots, its Job or an external object.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::delivery::jobflow {

/// Opening a workflow compiles it and reads its records once, however many of its steps are asked about.
std::vector<control::ExplainRow> explain_rows();

}  // namespace slipway::delivery::jobflow

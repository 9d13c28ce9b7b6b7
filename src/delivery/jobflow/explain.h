// Why a workflow or one of its steps stands as it does (control/explain.h): a workflow waits for steps, a step for steps,
// slots, its Job or an external object.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::delivery::jobflow {

/// The row remembers the last workflow it was asked about: make rows anew for a new look.
std::vector<control::ExplainRow> explain_rows();

}  // namespace slipway::delivery::jobflow

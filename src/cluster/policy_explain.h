// Why budgets allow nothing and why autoscalers stand still (control/explain.h).
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::cluster {

std::vector<control::ExplainRow> policy_explain_rows();

}  // namespace slipway::cluster

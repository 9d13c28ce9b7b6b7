// Why Deployments and ReplicaSets stand as they do (control/explain.h): a Deployment waits for its ReplicaSets, those for pods.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::cluster {

std::vector<control::ExplainRow> workload_explain_rows();

}  // namespace slipway::cluster

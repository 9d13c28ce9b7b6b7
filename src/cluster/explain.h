// Why Jobs, Deployments, ReplicaSets, StatefulSets, DaemonSets and pods stand as they do (control/explain.h): all wait for
// pods, a pod for its containers.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::cluster {

std::vector<control::ExplainRow> explain_rows();

}  // namespace slipway::cluster

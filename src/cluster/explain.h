// Why Jobs and pods stand as they do (control/explain.h): a Job waits for its pods, a pod for its containers.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::cluster {

std::vector<control::ExplainRow> explain_rows();

}  // namespace slipway::cluster

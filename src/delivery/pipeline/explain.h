// Why a version is not further: from a pipeline to its environments, from an environment to the targets that are not there and
// to its promotion, from a promotion to the gate, approval, hold, freeze, pull request or target that it waits for.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::delivery::pipeline {

/// For Pipeline (a part is an environment), Promotion, GitopsCluster, Hold and Freeze.
std::vector<control::ExplainRow> explain_rows();

}  // namespace slipway::delivery::pipeline

// Whether the newest promotion into an environment still says why the environment is where it is. One that has ended does not,
// but for a rejection of the very version that the environments before it run now.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "delivery/pipeline/status.h"

namespace slipway::delivery::pipeline {

/// Names of the environments before one, by dependsOn or by the order of the list.
std::vector<std::string> environments_before(const PipelineSpec& spec, std::string_view environment);

/// False where there is no promotion.
bool has_current_promotion(const PipelineSpec& spec, const PipelineStatus& status, const std::string& environment);

}  // namespace slipway::delivery::pipeline

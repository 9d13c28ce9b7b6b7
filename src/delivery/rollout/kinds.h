// What the family brings to a server: its CustomResourceDefinitions, made from the described structs.
#pragma once

#include <vector>

#include "json/value.h"

namespace slipway::delivery::rollout {

std::vector<json::Value> custom_resource_definitions();

}  // namespace slipway::delivery::rollout

// What the family brings to a server: its CustomResourceDefinitions, made from the described structs.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace slipway::delivery::rollout {

std::vector<json::Value> custom_resource_definitions();
/// The fields of all three kinds, for docs/rollout.md.
std::string field_table();

}  // namespace slipway::delivery::rollout

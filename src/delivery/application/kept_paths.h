// Paths of policies into objects ("spec.template.spec.containers[0].image", lists by index): what stands there in a live object
// is kept, or a difference there means something. Pure.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace slipway::delivery::application {

/// `manifest` with the live value at each of these paths; where the live object has none it stays as it is. "*" is no path.
json::Value with_live(json::Value manifest, const json::Value& live, const std::vector<std::string>& paths);
/// Whether `manifest` says something at the path that is not so in `live`.
bool has_other_value(const json::Value& manifest, const json::Value& live, const std::string& path);

}  // namespace slipway::delivery::application

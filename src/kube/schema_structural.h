// Which schemas a CRD may bring (apiextensions.k8s.io/v1, "structural schemas"): every node has a type, logical operators only
// restrict what the structure declares, lists and maps say how they merge, defaults fit. The wording of the causes is
// upstream's.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

class Schema;

/// Everything that is not structural in an openAPIV3Schema; `path` is its place.
std::vector<Cause> structural_causes(const json::Value& open_api, const std::string& path);
/// Defaults with unknown fields or invalid values, checked against the node they stand at.
void check_defaults(const Schema& schema, const json::Value& open_api, const std::string& path, std::vector<Cause>& causes);

}  // namespace slipway::kube

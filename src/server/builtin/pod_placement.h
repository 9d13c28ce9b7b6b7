// Where a pod may run: validation of affinity, spread over topologies and tolerations (k8s.io/kubernetes pkg/apis/core).
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::server {

/// Every fault of spec.affinity, spec.topologySpreadConstraints and spec.tolerations of a PodSpec at `path`.
void placement_causes(const json::Value& spec, const std::string& path, std::vector<Cause>& causes);

}  // namespace slipway::server

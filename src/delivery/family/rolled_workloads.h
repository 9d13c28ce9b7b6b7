// What a rollout of any kind says about its workloads: others go from it down to the pods. Pure.
#pragma once

#include <vector>

#include "kube/object.h"

namespace slipway::delivery {

/// References {apiVersion, kind, namespace, name}: the target first, then the sources, newest first. Empty while none is found.
std::vector<json::Value> rolled_workloads(const kube::Object& rollout);
/// It has rolled out what it names now.
bool has_rolled_out(const kube::Object& rollout);

}  // namespace slipway::delivery

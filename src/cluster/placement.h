// Whether a pod may go to the one node: the part of kube-scheduler that people rely on here (cordon, taints, tolerations).
// DIVERGES: selectors, affinity and resources are not looked at, and running pods are not evicted by NoExecute.
#pragma once

#include <optional>
#include <string>

#include "kube/object.h"

namespace slipway::cluster {

/// Why the pod stays Pending, in the words of the scheduler; nullopt when it may go there. A null node is none at all.
std::optional<std::string> placement_fault(const kube::Object& pod, const kube::Object& node);

}  // namespace slipway::cluster

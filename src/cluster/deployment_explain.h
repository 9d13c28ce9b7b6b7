// Why Deployments and ReplicaSets stand as they do (control/explain.h): a Deployment waits for its ReplicaSets, those for pods.
#pragma once

#include <string_view>
#include <vector>

#include "control/explain.h"

namespace slipway::cluster {

std::vector<control::ExplainRow> workload_explain_rows();

// For kinds that own pods, too.

/// A condition of the object as a cause of its own.
control::Wait wait_of_condition(const kube::Object& object, std::string_view type);
/// The pods of a set that are not ready yet.
std::vector<control::Wait> waits_for_unready_pods(const kube::Object& set, const control::View& view);

}  // namespace slipway::cluster

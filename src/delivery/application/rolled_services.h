// How components stand that a rollout delivers: the workload is the rollout's, so their status goes through it to the workload
// and its pods.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Components that a rollout of this application delivers, by the trackers.
std::set<std::string> rolled_components(AppRun& run);
/// Records the service of each of them. A component is healthy once its rollout has succeeded and its workload is healthy.
Task<Result<void>> judge_rolled_services(AppRun& run);
/// Adds the workload that a rollout among `objects` has made of the component, as if the component's own template had.
Task<Result<void>> add_rolled_workload(AppRun& run, std::vector<std::pair<ManagedResource, Value>>& objects);

}  // namespace slipway::delivery::application

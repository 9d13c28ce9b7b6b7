// What is left at the end of a scenario, written as the recordings write it, and compared with them.
#pragma once

#include <string>
#include <vector>

#include "workload_world.h"

namespace slipway::workloads_test {

/// Every difference, a line each; empty when all objects are as recorded.
std::vector<std::string> final_differences(WorkloadWorld& world, const Scenario& scenario);
/// Every bound that is worse than in both recordings.
std::vector<std::string> bound_differences(const WorkloadWorld& world, const Scenario& scenario);
/// Where the pods changed in another order; for scenarios whose order is sure.
std::vector<std::string> order_differences(const WorkloadWorld& world, const Scenario& scenario);

}  // namespace slipway::workloads_test

// Recorded workflow executions of WfInstances (corpus/dags/wfinstances): graphs and run times, in both forms kept there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "json/value.h"

namespace slipway::jobflow_test {

struct Recorded {
  std::string id;
  std::int64_t micros = 0;
  std::vector<std::size_t> parents;  // indexes of tasks
};

struct Instance {
  std::string file;
  std::vector<Recorded> tasks;
};

/// $SLIPWAY_CORPUS/dags/wfinstances, default ../shared/corpus beside the source tree; empty when it is not there.
std::string instances_folder();
/// All instances, by file name.
std::vector<Instance> read_instances(const std::string& folder);

/// Longest sum of run times along a path: by the tasks in an order in which parents come first.
std::int64_t critical_path(const Instance& instance);
std::int64_t total_work(const Instance& instance);

/// The spec of a workflow that runs the instance with simulated pods.
json::Value workflow_spec(const Instance& instance, std::int64_t parallelism);

}  // namespace slipway::jobflow_test

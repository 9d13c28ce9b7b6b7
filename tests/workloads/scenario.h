// The scenarios of kube/workloads.jsonl: what was done to the real controllers and what was seen.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "json/value.h"

namespace slipway::workloads_test {

using json::Value;

/// Pods as the recordings write them ("1R+~"), by the recording's name for the pod.
using PodStates = std::map<std::string, std::string>;

struct Scenario {
  std::string id;
  std::string kind;
  std::vector<Value> steps;
  Value bounds;        // per step
  Value other_bounds;  // of the second recording; null: the same
  Value final_objects;
  bool is_order_sure = false;  // both recordings have the same trace
  bool is_final_sure = true;   // and the same objects at the end
  bool has_trace = false;
  /// Pods when each step was sent, and at the end.
  std::vector<PodStates> states;
  /// Every change of a pod after a step was sent: "web-0 0R+".
  std::vector<std::string> order;

  /// Its steps come in the midst of an update, not when all is quiet.
  bool acts_in_mid_update() const;
  /// Only the workload's own object was recorded.
  bool is_grid() const { return id.starts_with("deploy-grid-"); }
};

/// Empty: there is no corpus.
std::vector<Scenario> read_scenarios();

/// Without what depends on moments: Pending or Running, bound or not.
std::string plain_state(std::string state);

}  // namespace slipway::workloads_test

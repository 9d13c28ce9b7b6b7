// The status of a PodDisruptionBudget (policy/v1) as a pure function of its pods and of how many pods their controllers want,
// after upstream's pkg/controller/disruption. The eviction subresource (server/builtin/eviction.h) takes disruptions from it
// and notes them as disruptedPods, until the pod is seen going or two minutes have passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "kube/object.h"

namespace slipway::cluster {

/// Whether the budget is a share, or a number that may be missing: how many pods their controllers want must be known.
bool counts_wanted_pods(const kube::Object& budget);
bool is_budget_of(const kube::Object& budget, const kube::Object& pod);

struct DisruptionPlan {
  json::Value status;                  // equal to the present one when nothing changes
  std::optional<Duration> look_again;  // an eviction that was granted is forgotten then
};

/// `wanted`: how many pods the controllers of `pods` want together; looked at when counts_wanted_pods().
DisruptionPlan plan_disruption(const kube::Object& budget, const std::vector<kube::Object>& pods, std::int64_t wanted,
                               const Now& now);
/// Nothing may be disrupted, as the pods that are wanted could not be counted.
json::Value failed_budget_status(const kube::Object& budget, const std::string& message, Time now);

/// The event about pods without a controller, in upstream's words.
std::string unmanaged_pods_message(const kube::Object& budget);

}  // namespace slipway::cluster

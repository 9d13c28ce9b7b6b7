// What a HorizontalPodAutoscaler (autoscaling/v2) does next, as a pure function of its target, its metrics and what it has
// recommended and done lately: the highest of what its metrics ask for (hpa_replicas.h), stabilised over a window, limited by
// the policies of spec.behavior, within minReplicas and maxReplicas. After upstream's pkg/controller/podautoscaler; conditions
// and reasons are its.
//
// DIVERGES: a metric that fails leaves a condition and no event.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/hpa_replicas.h"

namespace slipway::cluster {

/// What an autoscaler remembers. It begins anew when Slipway restarts, with the present size as its first recommendation.
struct HpaHistory {
  struct Entry {
    Steady at;
    std::int64_t count = 0;
  };
  std::vector<Entry> recommendations{};
  std::vector<Entry> changes{};  // of the size, negative when it shrank
};

struct HpaPlan {
  std::optional<std::int64_t> resize{};  // the target's new size
  std::string reason{};                  // of the resize: "cpu resource utilization (percentage of request) above target"
  json::Value status{};                  // as it is once the resize has been made
  HpaHistory history{};
};

/// `now`: for times in the status; `moment`: the same for windows.
HpaPlan plan_autoscaler(const kube::Object& hpa, const HpaView& view, HpaHistory history, Time now, Steady moment);
/// The status when the target could not be read or resized; reason "FailedGetScale" or "FailedUpdateScale".
json::Value failed_scale_status(const kube::Object& hpa, const std::string& reason, const std::string& message, Time now);

}  // namespace slipway::cluster

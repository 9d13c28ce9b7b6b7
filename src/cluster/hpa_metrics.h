// Scripted metrics for autoscalers: what a metrics server would say, written down in the annotation slipway.dev/metrics of a
// HorizontalPodAutoscaler or of its target. A YAML mapping from the metric's name ("cpu", "requests_per_second";
// "container/cpu" for a ContainerResource) to its course:
//
//   slipway.dev/metrics: |
//     cpu: 40%, 5m=180%, 20m=20%       # of the pods' requests; from the creation of the object on, and from these ages
//     requests_per_second: 1200/pods   # a total that the measured pods share
//
// Resource and Pods metrics are per pod unless they end in "/pods"; Object and External metrics are totals.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/object.h"

namespace slipway::cluster {

inline constexpr std::string_view kMetrics = "slipway.dev/metrics";

/// In thousandths of the metric's unit, or of a percent.
struct ScriptedValue {
  std::int64_t millis = 0;
  bool is_percent = false;
  bool is_shared = false;  // "/pods"

  bool operator==(const ScriptedValue&) const = default;
};

/// From which age on which value holds.
using MetricCourse = std::map<Duration, ScriptedValue>;
/// BadRequest with the metric and the piece that cannot be read. Empty for an empty text.
Result<std::map<std::string, MetricCourse>> parse_metrics(std::string_view annotation);

/// The scripted metrics of one moment.
using MetricValues = std::map<std::string, ScriptedValue, std::less<>>;
/// As `object` says in its annotation.
Result<MetricValues> metrics_at(const kube::Object& object, Time now);

}  // namespace slipway::cluster

// How many replicas the metrics of a HorizontalPodAutoscaler ask for, after upstream's replica calculator
// (pkg/controller/podautoscaler): the ratio of a metric to its target, with a tolerance of a tenth, times the pods measured.
// Pods that are not ready do not count when cpu is measured, and count as idle before anything grows because of it.
#pragma once

#include <string>
#include <vector>

#include "cluster/hpa_metrics.h"
#include "kube/object.h"

namespace slipway::cluster {

/// What an autoscaler looks at.
struct HpaView {
  std::int64_t spec_replicas = 0;  // of the target
  std::int64_t status_replicas = 0;
  std::vector<kube::Object> pods{};  // of the target
  MetricValues metrics{};
  std::string fault{};  // why there are none: an annotation that cannot be read
};

/// What one metric asks for.
struct MetricProposal {
  std::int64_t replicas = 0;
  std::string name;    // "cpu resource utilization (percentage of request)"
  json::Value status;  // MetricStatus
};

/// Why one metric could not be used.
struct MetricFault {
  std::string reason;  // "FailedGetResourceMetric"
  std::string message;
};

/// One entry of spec.metrics (autoscaling/v2).
std::expected<MetricProposal, MetricFault> propose_replicas(const json::Value& metric, const HpaView& view);

}  // namespace slipway::cluster

// spec.podFailurePolicy of a Job: what a failed pod means for its Job. Rules are tried in order, the first match decides.
#pragma once

#include <cstdint>
#include <string>

#include "kube/object.h"

namespace slipway::cluster {

enum class PodFailure : std::uint8_t { Count, Ignore, FailJob };

struct PodVerdict {
  PodFailure action = PodFailure::Count;
  std::string message;  // of FailJob: which rule matched
};

/// DIVERGES: a pod with condition DisruptionTarget that no rule matches is ignored; upstream counts it. A pod that was lost
/// with its supervisor costs no retry. FailIndex counts like Count (there is no backoffLimitPerIndex yet).
PodVerdict judge_failed_pod(const kube::Object& job, const kube::Object& pod);

}  // namespace slipway::cluster

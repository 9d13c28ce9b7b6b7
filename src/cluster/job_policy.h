// spec.podFailurePolicy of a Job: what a failed pod means for its Job. Rules are tried in order, the first match decides.
#pragma once

#include <cstdint>
#include <string>

#include "kube/object.h"

namespace slipway::cluster {

enum class PodFailure : std::uint8_t {
  Count,      // one retry less
  Ignore,     // replaced after the same back-off, at no cost
  FailIndex,  // its index is not tried again
  FailJob,    // the Job fails at once
  Replace,    // replaced at once, at no cost: it was stopped with Slipway
};

struct PodVerdict {
  PodFailure action = PodFailure::Count;
  std::string message;  // of FailJob: which rule matched
};

/// Without a matching rule a failure counts, a disruption (condition DisruptionTarget) too, as upstream. DIVERGES: a pod that
/// was stopped with Slipway is replaced when Slipway starts again.
PodVerdict judge_failed_pod(const kube::Object& job, const kube::Object& pod);

}  // namespace slipway::cluster

// The pods that a Job makes. Their names follow from the Job's uid and a number, so that a controller that died after creating
// one, or whose cache is old, can never create it a second time: it asks for the same name again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kube/object.h"

namespace slipway::cluster {

/// Which pod of a Job: an ordinal, and for Indexed Jobs the completion index whose ordinal-th attempt it is.
struct JobPodSlot {
  std::int64_t ordinal = 0;
  std::optional<std::int64_t> index;
  /// Counted failures of the index so far, under backoffLimitPerIndex.
  std::int64_t failures = 0;
};

std::string job_pod_name(const kube::Object& job, JobPodSlot slot);
/// The whole pod, ready to create.
kube::Object make_job_pod(const kube::Object& job, JobPodSlot slot);
/// The completion index of a pod of an Indexed Job; nullopt when it has none.
std::optional<std::int64_t> completion_index(const kube::Object& pod);

}  // namespace slipway::cluster

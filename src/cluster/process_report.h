// From the records of a pod supervisor (base/pod_record.h) to how the pod stands.
#pragma once

#include "base/pod_record.h"
#include "cluster/pod_folder.h"
#include "cluster/pod_runtime.h"

namespace slipway::cluster {

/// `state`: what the supervisor last wrote; `address`: the pod's own.
PodReport report_of(const kube::Object& pod, const PodState& state, const std::string& address);
/// A pod that waits to be started.
PodReport waiting_report(const kube::Object& pod, const std::string& reason, const std::string& message = "",
                         const std::string& container = "");
/// A pod that cannot be started, or was ended before it was.
PodReport failed_report(const kube::Object& pod, const std::string& reason, const std::string& message);

}  // namespace slipway::cluster

// What controllers want to know about a pod, read from its object.
#pragma once

#include <optional>

#include "kube/object.h"

namespace slipway::cluster {

/// Phase Succeeded or Failed.
bool is_terminal_pod(const kube::Object& pod);
bool has_succeeded(const kube::Object& pod);
/// When the last container ended; the time of creation for a pod that never ran.
Time finish_time(const kube::Object& pod);
/// Runs of containers after the first.
std::int64_t restarts(const kube::Object& pod);

}  // namespace slipway::cluster

// What controllers want to know about a pod, read from its object.
#pragma once

#include <optional>

#include "base/wall_steps.h"
#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::cluster {

inline const kube::GroupVersionKind kPodKind{"", "v1", "Pod"};

/// Phase Succeeded or Failed.
bool is_terminal_pod(const kube::Object& pod);
bool has_succeeded(const kube::Object& pod);
/// Neither ended nor being deleted.
bool is_active_pod(const kube::Object& pod);
/// Since when it is ready; nullopt when it is not.
std::optional<Time> ready_since(const kube::Object& pod);
/// Ready for at least `min_ready_seconds`.
bool is_available_pod(const kube::Object& pod, std::int64_t min_ready_seconds, const Now& now);
/// How long until a ready pod becomes available; nullopt when it is not ready, or available already.
std::optional<Duration> until_available(const kube::Object& pod, std::int64_t min_ready_seconds, const Now& now);
/// When the last container ended; the time of creation for a pod that never ran.
Time finish_time(const kube::Object& pod);
/// Runs of containers after the first.
std::int64_t restarts(const kube::Object& pod);

}  // namespace slipway::cluster

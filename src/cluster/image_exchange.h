// Images of a running simulated pod that were exchanged: what kubelet does then, container by container. The run that all
// containers share (simulated_runtime.h) goes on for those whose image is the same.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/wall_steps.h"
#include "cluster/pod_runtime.h"

namespace slipway::cluster {

/// Exit code of a process that SIGTERM ended.
inline constexpr std::int64_t kTerminated = 128 + 15;

/// What is to become of containers that are started again.
struct ContainerRules {
  std::function<bool(std::string_view image)> is_missing;
  /// When a container that started at `start` is ready; nullopt: never.
  std::function<std::optional<Time>(Time start)> ready_at;
};

/// Corrects a report that shows every container running in a run that the pod's status knows already. A container whose image
/// is another than in the status has been ended and started now, or waits for its image; each is ready by its own start.
/// `report.look_again` comes no later than the next change.
void exchange_images(PodReport& report, const kube::Object& pod, const ContainerRules& rules, const Now& now);

/// The status of the container by which the pod's run is known: the first that runs, else the first.
const json::Value& leading_status(const kube::Object& pod);
/// Whether a container that ran before waits for its image.
bool waits_for_image(const json::Value& status);

}  // namespace slipway::cluster

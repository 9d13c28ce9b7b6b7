// From a runtime's report to Pod.status. Times of containers carry microseconds (DIVERGES: upstream writes whole seconds; its
// readers take fractions), so that a simulated pod goes on exactly where it was after a restart.
#pragma once

#include <optional>
#include <string>

#include "cluster/pod_runtime.h"
#include "kube/object.h"

namespace slipway::cluster {

/// One ended run (ContainerStateTerminated).
struct ContainerEnd {
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::string reason{};  // empty: Completed or Error by the exit code
  std::string message{};
  std::optional<Time> started{};
  std::optional<Time> finished{};
};

json::Value waiting_state(const std::string& reason, const std::string& message = "");
json::Value running_state(Time started);
json::Value terminated_state(const ContainerEnd& end);
/// A ContainerStatus. `container` is of the spec; `last_state` may be null. One that runs is ready. Nothing pulls images, so
/// the name of one that was started is its imageID, too; upstream has its digest there.
json::Value container_status(const json::Value& container, json::Value state, std::int64_t restarts = 0,
                             json::Value last_state = {});

/// The pod's status with the report in it; equal to the present one when nothing has changed.
json::Value pod_status(const kube::Object& pod, const PodReport& report, Time now);

}  // namespace slipway::cluster

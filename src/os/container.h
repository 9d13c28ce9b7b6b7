// Starts one container of a pod: a session and process group of its own, output to its log, volumes in place, killed together
// with its supervisor. Only POSIX calls.
#pragma once

#include <sys/types.h>

#include <expected>
#include <string>

#include "base/pod_record.h"

namespace slipway::os {

/// Variables that tell whose process it is; the supervisor finds strays by them.
inline constexpr const char* kPodVariable = "SLIPWAY_POD";
inline constexpr const char* kContainerVariable = "SLIPWAY_CONTAINER";

struct StartedContainer {
  ProcessId process;
  pid_t relay = 0;  // of its input or terminal (os/relay.h), a child of this process; 0: none
};
/// Returns once the command has been executed, or says why it could not be (as a container runtime words it). The calling
/// process must have one thread and stay the parent.
std::expected<StartedContainer, std::string> start_container(const PodContainer& container, const std::string& pod_folder,
                                                             PodMounting mounting);

}  // namespace slipway::os

// Starts one container of a pod: a session and process group of its own, output to its log, volumes in place, as the user it is
// to run as, killed together with its supervisor. Only POSIX calls.
#pragma once

#include <sys/types.h>

#include <expected>
#include <string>

#include "base/pod_record.h"
#include "os/pod_mark.h"

namespace slipway::os {

/// Variables that tell people whose process it is; the supervisor itself goes by the mark (os/pod_mark.h), and by these where a
/// process has none.
inline constexpr const char* kPodVariable = "SLIPWAY_POD";
inline constexpr const char* kContainerVariable = "SLIPWAY_CONTAINER";

struct StartedContainer {
  ProcessId process;
  pid_t relay = 0;  // of its input or terminal (os/relay.h), a child of this process; 0: none
};
/// Returns once the command has been executed, or says why it could not be (as a container runtime words it). `mark`: what it
/// and all it starts carry; 0: nothing. The calling process must have one thread and stay the parent.
std::expected<StartedContainer, std::string> start_container(const PodContainer& container, const std::string& pod_folder,
                                                             PodMounting mounting, PodMark mark);

}  // namespace slipway::os

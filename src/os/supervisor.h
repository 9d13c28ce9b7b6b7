// The small process that runs the containers of one pod and outlives Slipway. What it is asked for and what it tells are the
// records of base/pod_record.h. It needs nothing but its folder, uses only POSIX calls, and is started as the hidden subcommand
// `slipway pod-supervisor POD_FOLDER`, in a session of its own (Processes::start).
//
// - Init containers run one after the other, then all containers side by side; each is a session and process group of its own.
// - SIGTERM (or SIGINT) stops the pod: SIGTERM to each container's group, SIGKILL after the grace. Exit codes are 128 + signal
//   then.
// - When a container's first process ends, the rest of its group and its strays (adopted orphans that carry its mark,
//   os/pod_mark.h) are killed. Before the final state is written every descendant is gone.
// - Restarts under OnFailure and Always: at once, then after 10 s, 20 s … 5 min; a run of 10 min starts that over.
// - Killed itself, it takes the containers' first processes with it (PR_SET_PDEATHSIG); started again on such a folder, it
//   kills what else carries the pod's mark or SLIPWAY_POD=<folder>, records phase Lost and ends. Nothing else is ever
//   signalled.
// - A volume that holds more than its limit ends the pod: SIGTERM, SIGKILL a second later, phase Failed with reason Evicted.
//   They are looked at every second first, later every ten.
// - A full disk does not lose the end of a pod: the state is written again each second until it succeeds.
#pragma once

#include <string>

namespace slipway::os {

/// Runs until the pod has ended. `pod_folder` is absolute. 0: the final state is written, or was before, or another supervisor
/// runs this folder. 1: the folder cannot be used, or stopped while the state could not be written. Blocks signals of the
/// process and makes it a subreaper.
int run_supervisor(const std::string& pod_folder);

}  // namespace slipway::os

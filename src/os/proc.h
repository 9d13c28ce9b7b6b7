// Processes as /proc shows them. A pid is reused in time, so a process is named by pid and start (ProcessId), which stay the
// same for every reader. Only POSIX calls: the pod supervisor uses this too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"

namespace slipway::os {

struct ProcStat {
  char state = '?';  // as ps shows it; 'Z': ended, not reaped
  pid_t parent = 0;
  std::uint64_t start_ticks = 0;
};

/// Nothing when there is no such process.
std::optional<ProcStat> read_proc_stat(pid_t pid);
/// Whether that very process is there and has not ended (a zombie has).
bool is_running(ProcessId process);
/// The ProcessId of a pid that is known to be there, e.g. a child that is not reaped yet.
ProcessId identify(pid_t pid);
/// A variable of the environment the process was started with; nothing when unset or not to be seen.
std::optional<std::string> initial_variable(pid_t pid, const std::string& name);
/// Children of the calling thread's process. Some may be left out while others end; ask again after each end.
std::vector<pid_t> current_children();
/// Every process at this moment, in ascending order.
std::vector<pid_t> all_processes();

}  // namespace slipway::os

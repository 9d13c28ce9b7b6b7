// Marks the processes of a pod so that each can be told from every other process of the machine, whatever it does: a number
// that children inherit through fork, exec, setsid and an emptied environment. It is carried as the limit of file locks
// (RLIMIT_LOCKS), which every process has, which Linux has not enforced since 2.4.25, and which is "unlimited" otherwise.
// Needs no privilege: a process may always lower its own limits, and /proc shows them to everybody.
//
// Example: the mark of a pod is 0x1f3a…c00, its third container carries 0x1f3a…c02. Whatever that container starts shows
// "Max file locks 2249…" in /proc/PID/limits and belongs to it.
//
// Only a process that sets the limit of file locks itself gets out of sight.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace slipway::os {

/// Of a pod: a multiple of kMarksPerPod. 0: none (a pod of a Slipway that did not mark them).
using PodMark = std::uint64_t;
inline constexpr PodMark kMarksPerPod = 1024;

/// A random one, below the limit that this process has itself (a Slipway may run in a pod of another).
PodMark make_pod_mark();
/// What the container carries. Those beyond kMarksPerPod share the last one.
PodMark container_mark(PodMark pod, std::size_t container);
/// From now on this process and what it starts carry the mark. False when the system refuses.
bool carry_mark(PodMark mark);
/// The container a process belongs to; nothing when it is of another pod or of none, or has ended.
std::optional<std::size_t> marked_container(PodMark pod, pid_t pid);

/// Sends SIGKILL to `pid` if `is_meant` says so once the number is held fast: what is asked about is what is killed, even when
/// the number is given to another process meanwhile. True if it was sent.
bool kill_if(pid_t pid, const std::function<bool()>& is_meant);

}  // namespace slipway::os

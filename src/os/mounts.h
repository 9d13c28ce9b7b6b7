// How the volumes of a pod get to the paths its commands name. Best is a mount namespace of the container, where each volume is
// bind-mounted at its target; it needs root or user namespaces. Where a target does not exist nothing is created on the host:
// the nearest folder above it is covered by a tmpfs of the namespace, in which every old entry is bound again, so new entries
// made directly in that folder by the command vanish with the container (as in a container's own layer) and all others are the
// host's. Where mounts are not allowed the targets are links below a folder, which commands reach through $POD_ROOT.
// A failure is one line of text for people; it becomes the message of the container's StartError.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/pod_record.h"

namespace slipway::os {

using Mounted = std::expected<void, std::string>;

/// Gives the calling process, which must have one thread, a mount namespace of its own with the mounts in place. `staging` is
/// an existing folder; nothing is written there. After a failure the process is good for nothing but to exit.
Mounted enter_mounts(std::vector<PodMount> mounts, const std::string& staging);

/// Whether enter_mounts works here: tried in a child, a new folder below "/" included.
bool can_mount(const std::string& staging);

/// Links `root`/<target> to each source. Doing it again is harmless. DIVERGES: read-only is not enforced.
Mounted map_mounts(std::vector<PodMount> mounts, const std::string& root);
/// `path`, or its place below `root` when it lies at or under a target.
std::string mapped_path(const std::vector<PodMount>& mounts, const std::string& root, const std::string& path);

}  // namespace slipway::os

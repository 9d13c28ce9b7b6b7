// A pod as a folder: what is to be made below `<data>/pods/<uid>` before its supervisor starts. A pure plan; the process
// runtime carries it out through Env::files. Layout: `manifest`, `state` and more as base/pod_record.h says;
// `volumes/<name>` for ConfigMap, Secret and emptyDir volumes; `<container>.log` and what is
// known of its times, `input/<container>`, `address`. Claims are folders of their own,
// `<data>/volumes/<namespace>/<claim>`, which outlive pods.
#pragma once

#include <string>
#include <vector>

#include "base/pod_record.h"
#include "cluster/pod_environment.h"

namespace slipway::cluster {

/// Where things are; all absolute.
struct PodPaths {
  std::string data;

  std::string pods() const { return data + "/pods"; }
  std::string pod(std::string_view uid) const { return pods() + "/" + std::string(uid); }
  std::string log(std::string_view uid, std::string_view container) const {
    return pod(uid) + "/" + std::string(container) + ".log";
  }
  /// PodLogMark lines about that log.
  std::string log_times(std::string_view uid, std::string_view container) const { return log(uid, container) + ".times"; }
  /// The input of a container that takes some.
  std::string input(std::string_view uid, std::string_view container) const {
    return pod(uid) + "/input/" + std::string(container);
  }
  /// The pod's address as text.
  std::string address(std::string_view uid) const { return pod(uid) + "/address"; }
  std::string claim(std::string_view ns, std::string_view name) const {
    return data + "/volumes/" + std::string(ns) + "/" + std::string(name);
  }
};

struct PlannedFile {
  std::string path;
  std::string content;
  unsigned mode = 0644;
};

struct PodFolderPlan {
  std::vector<std::string> folders{};
  std::vector<PlannedFile> files{};
  PodManifest manifest{};
};

/// Why a pod cannot be started.
struct PodProblem {
  bool is_final = false;    // false: it may be solved from outside (a missing ConfigMap)
  std::string container{};  // empty: the pod as a whole
  std::string reason{};     // "CreateContainerConfigError", "StartError"
  std::string message{};
};

/// As whom Slipway runs on this machine. Only root (0) can start processes of another user.
struct ProcessUser {
  std::int64_t uid = 0;
  std::int64_t gid = 0;
};

/// The pod has its address in its status already. What cannot be done as the pod asks (another user without being root,
/// runAsNonRoot as root) is a problem that names the field and what to do; nothing of it is ignored. DIVERGES: without
/// runAsGroup the group is Slipway's; supplementary groups are not set.
std::expected<PodFolderPlan, PodProblem> plan_pod_folder(const kube::Object& pod, const PodInputs& inputs,
                                                         const PodPaths& paths, const ProcessUser& slipway);

}  // namespace slipway::cluster

// What a pod runtime asks of a pod supervisor, and what the supervisor answers: two small text records in the pod's folder.
// The runtime (room cluster) writes `manifest` and starts `slipway pod-supervisor POD_FOLDER`; the supervisor (os/supervisor.h)
// runs the containers, outlives Slipway and replaces `state` in one step at every change. A supervisor may be started any
// number of times for one folder: one runs, the others leave at once; started again after it was killed, it ends what is left
// and records the pod as lost. So the runtime never has to know whether its last start took effect. Pure functions here, no
// I/O. Both records are lines of `key value`, where a value has \\ for a backslash and \n for a new line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/status.h"

namespace slipway {

/// Names inside a pod's folder.
inline constexpr std::string_view kPodManifestFile = "manifest";
inline constexpr std::string_view kPodStateFile = "state";
/// Optional, written before a SIGTERM to the supervisor: decimal seconds that replace the manifest's grace. Read again at each
/// SIGTERM, so a second one with a smaller number shortens the wait.
inline constexpr std::string_view kPodGraceFile = "grace";
/// In a folder of input: decimal "COLUMNS ROWS" of the terminal.
inline constexpr std::string_view kPodWindowFile = "window";
/// `flock`ed by the running supervisor.
inline constexpr std::string_view kPodLockFile = "lock";
/// Working folder of containers that name none.
inline constexpr std::string_view kPodWorkFolder = "work";
/// Holds `<container>/<target>` links in mapped mode, and is the mount point of private roots.
inline constexpr std::string_view kPodRootFolder = "root";

/// Pod.spec.restartPolicy. An init container is restarted under Always as under OnFailure.
enum class PodRestart : std::uint8_t { Never, OnFailure, Always };

/// One volume as a container sees it.
struct PodMount {
  std::string source{};  // absolute path of an existing folder or file
  std::string target{};  // absolute path in the container, e.g. "/config"
  bool is_read_only = false;

  bool operator==(const PodMount&) const = default;
};

/// One container as it is to be run.
struct PodContainer {
  std::string name{};               // unique in the pod
  std::vector<std::string> argv{};  // argv[0] is looked up in PATH of `env`
  /// "NAME=value", complete: nothing is inherited. The supervisor adds POD_ROOT (see PodMounting), SLIPWAY_POD (the pod's
  /// folder) and SLIPWAY_CONTAINER.
  std::vector<std::string> env{};
  std::string folder{};     // working directory in the container; empty: kPodWorkFolder
  std::string log{};        // absolute path of the file that takes stdout and stderr, appended, made with mode 0640
  std::string error_log{};  // absolute path of a file for stderr alone; empty: it goes to `log`
  std::string times{};      // absolute path of the file that takes a PodLogMark per growth of `log`; empty: none
  /// Absolute path of an existing folder whose files are, one after the other, its standard input (see os/relay.h); empty: no
  /// input.
  std::string input{};
  std::optional<std::int64_t> user{};  // uid, gid; empty: those of the supervisor
  std::optional<std::int64_t> group{};
  bool has_terminal = false;  // stdin, stdout and stderr are one terminal; what it shows goes to `log`
  std::vector<PodMount> mounts{};

  bool operator==(const PodContainer&) const = default;
};

/// A volume that may hold so much and no more: emptyDir.sizeLimit.
struct PodVolumeLimit {
  std::string name{};    // of the volume, for messages
  std::string folder{};  // absolute
  std::int64_t bytes = 0;

  bool operator==(const PodVolumeLimit&) const = default;
};

struct PodManifest {
  std::vector<PodContainer> init_containers{};  // one after the other; each must exit 0
  std::vector<PodContainer> containers{};       // side by side, after the init containers; at least one
  PodRestart restart = PodRestart::Never;
  std::int64_t grace_seconds = 30;  // between SIGTERM and SIGKILL
  bool wants_namespace = true;      // false: mapped mode even where mounts are allowed
  std::vector<PodVolumeLimit> limits{};

  bool operator==(const PodManifest&) const = default;
};

/// How volumes got to their targets. Commands may always say `$POD_ROOT/config/x`; `/config/x` works with None and Namespace.
enum class PodMounting : std::uint8_t {
  None,       // no container has mounts; POD_ROOT is ""
  Namespace,  // bind mounts in a mount namespace of the container; POD_ROOT is ""
  Mapped,     // links below POD_ROOT, one folder per container; working directories below a target are mapped too
};

/// One run of a container that has ended (v1 ContainerStateTerminated).
struct PodExit {
  std::int32_t exit_code = 0;      // 128 + signal when a signal ended it
  std::int32_t signal_number = 0;  // 0: it exited by itself
  std::int64_t started_us = 0;     // since 1970; 0 when it never started
  std::int64_t finished_us = 0;
  std::string reason{};   // "Completed", "Error", "StartError" (128, as containerd: it cannot be run), "ContainerStatusUnknown"
                          // (137: Lost)
  std::string message{};  // for StartError, e.g. `exec: "frob": executable file not found in $PATH`

  bool operator==(const PodExit&) const = default;
};

enum class PodContainerPhase : std::uint8_t { Waiting, Running, Terminated };

struct PodContainerState {
  std::string name{};
  bool is_init = false;
  PodContainerPhase phase = PodContainerPhase::Waiting;
  std::string waiting_reason{};  // Waiting: "PodInitializing", "ContainerCreating", "CrashLoopBackOff"
  ProcessId process{};           // Running: also its process group and session
  std::int64_t started_us = 0;   // Running
  PodExit exit{};                // Terminated
  std::int32_t restarts = 0;
  std::optional<PodExit> last_exit{};  // of the run before, once restarted

  bool operator==(const PodContainerState&) const = default;
};

enum class PodPhase : std::uint8_t {
  Pending,    // init containers run
  Running,    // some container has been started
  Succeeded,  // final: every container exited 0
  Failed,     // final: some container (or init container) failed, was killed or could not be started
  Lost,       // final: the supervisor had been killed; what was left of the pod is gone
};

struct PodState {
  ProcessId supervisor{};
  std::uint64_t mark = 0;  // what its processes carry (os/pod_mark.h); 0: they are known by their environment only
  PodMounting mounting = PodMounting::None;
  PodPhase phase = PodPhase::Pending;
  bool is_stopping = false;                     // SIGTERM was received
  std::string reason{};                         // of a pod that failed as a whole, e.g. "Evicted"
  std::string message{};                        // likewise
  std::vector<PodContainerState> containers{};  // init containers first, in the manifest's order

  bool operator==(const PodState&) const = default;
};

/// What is known of the times of a log: how long it was at some moment. The line that begins at byte S was written no later
/// than the first mark with `bytes` > S says, and not long before.
struct PodLogMark {
  bool begins_run = false;  // a run of the container begins here
  std::int64_t at_us = 0;   // since 1970
  std::uint64_t bytes = 0;

  bool operator==(const PodLogMark&) const = default;
};
/// One line.
std::string encode_log_mark(const PodLogMark& mark);
/// All marks in the order they were written; lines that are not understood (the last one may be cut off) are left out.
std::vector<PodLogMark> decode_log_marks(std::string_view text);

std::string encode_manifest(const PodManifest& manifest);
/// Invalid when a line is not understood, the version is newer, or a NUL byte, an empty argv or a doubled name is found.
Result<PodManifest> decode_manifest(std::string_view text);
std::string encode_state(const PodState& state);
/// Invalid when torn or not understood.
Result<PodState> decode_state(std::string_view text);

/// Whether nothing will change any more.
bool is_final(PodPhase phase);

/// What a runtime is to make of a pod's folder.
enum class PodFate : std::uint8_t {
  NotStarted,  // no state yet: start the supervisor (harmless when it is just starting)
  Supervised,  // wait for the supervisor
  Finished,    // Succeeded or Failed: `state` tells all
  Lost,        // the pod did not end by itself and is watched no more; start the supervisor once more to end what is left
};
/// `state`: as read and decoded, nothing when the file is absent (one that cannot be decoded: treat as Lost);
/// `is_supervisor_alive`: Processes::is_alive(state->supervisor). Ask for the liveness first and read the state after that: a
/// supervisor writes its last state before it ends.
PodFate pod_fate(const std::optional<PodState>& state, bool is_supervisor_alive);

std::string_view to_string(PodRestart restart);
std::string_view to_string(PodMounting mounting);
std::string_view to_string(PodContainerPhase phase);
std::string_view to_string(PodPhase phase);

}  // namespace slipway

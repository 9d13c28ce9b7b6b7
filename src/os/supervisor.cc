#include "os/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <limits>

#include "base/pod_record.h"
#include "os/container.h"
#include "os/disk_usage.h"
#include "os/files.h"
#include "os/log_times.h"
#include "os/mounts.h"
#include "os/pod_mark.h"
#include "os/proc.h"

namespace slipway::os {
namespace {

using Micros = std::int64_t;
constexpr Micros kSecond = 1'000'000;
constexpr Micros kNever = std::numeric_limits<Micros>::max();
constexpr Micros kFirstBackoff = 10 * kSecond;
constexpr Micros kLongestBackoff = 300 * kSecond;
constexpr Micros kHealthyRun = 600 * kSecond;
constexpr Micros kStateRetry = kSecond;
constexpr Micros kSweepPause = 5'000;
constexpr Micros kRelayPatience = kSecond;
/// How exact the times of log lines are, at best and of a busy log: each look costs a mark.
constexpr Micros kLookPause = 10'000;
constexpr Micros kLongestLookPause = kSecond;
/// Between looks at volumes that have a limit; a look may take a twentieth of the time.
constexpr Micros kFirstVolumePause = kSecond;
constexpr Micros kLongestVolumePause = 10 * kSecond;
constexpr Micros kVolumeLookShare = 20;
constexpr Micros kEvictionGrace = kSecond;
constexpr std::int64_t kLongestGrace = 10LL * 365 * 24 * 3600;

Micros read_clock(clockid_t which) {
  timespec time = {};
  clock_gettime(which, &time);
  return time.tv_sec * kSecond + time.tv_nsec / 1000;
}
/// For records.
Micros wall_clock() { return read_clock(CLOCK_REALTIME); }
/// For waiting.
Micros steady_clock() { return read_clock(CLOCK_MONOTONIC); }

timespec to_timespec(Micros duration) {
  return {.tv_sec = duration / kSecond, .tv_nsec = static_cast<long>(duration % kSecond * 1000)};
}

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&signals, number);
  return signals;
}

PodExit exit_of(const siginfo_t& info, Micros started, Micros finished) {
  const bool was_killed = info.si_code != CLD_EXITED;
  PodExit exit{.exit_code = was_killed ? 128 + info.si_status : info.si_status,
               .signal_number = was_killed ? info.si_status : 0,
               .started_us = started,
               .finished_us = finished};
  exit.reason = exit.exit_code == 0 ? "Completed" : "Error";
  return exit;
}

/// What the supervisor keeps beside the record of a container.
struct Slot {
  const PodContainer* spec;
  Micros due = 0;      // on the steady clock: not started before
  Micros backoff = 0;  // before the next restart
};

class Supervisor {
 public:
  Supervisor(std::string folder, PodManifest manifest, PodState state)
      : folder_(std::move(folder)), manifest_(std::move(manifest)), state_(std::move(state)) {
    const sigset_t signals = watched_signals();
    signals_ = Descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    for (const auto& container : manifest_.init_containers) add(container);
    for (const auto& container : manifest_.containers) add(container);
  }

  int run() {
    choose_mounting();
    while (true) {
      // Nothing is started before a state is on the disk: without one a killed supervisor would have left no trace.
      if (!is_recorded_) write_state();
      reap();
      start_what_is_due();
      look_at_volumes();
      stop_what_is_late();
      const auto verdict = judge();
      if (verdict) return finish(*verdict);
      write_state();
      wait();
    }
  }

 private:
  void add(const PodContainer& container) {
    const bool is_init = slots_.size() < manifest_.init_containers.size();
    state_.containers.push_back({.name = container.name, .is_init = is_init});
    state_.containers.back().waiting_reason =
        is_init || manifest_.init_containers.empty() ? "ContainerCreating" : "PodInitializing";
    slots_.push_back({.spec = &container});
    is_dirty_ = true;
  }

  void choose_mounting() {
    const bool has_mounts = std::ranges::any_of(slots_, [](const Slot& slot) { return !slot.spec->mounts.empty(); });
    if (!has_mounts) return;
    const std::string staging = fmt::format("{}/{}", folder_, kPodRootFolder);
    const bool can = manifest_.wants_namespace && can_mount(staging);
    state_.mounting = can ? PodMounting::Namespace : PodMounting::Mapped;
  }

  void start_what_is_due() {
    if (state_.is_stopping || !is_recorded_) return;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      auto& state = state_.containers[i];
      if (state.phase == PodContainerPhase::Waiting && slots_[i].due <= steady_clock()) start(i);
      const bool has_succeeded = state.phase == PodContainerPhase::Terminated && state.exit.exit_code == 0;
      if (state.is_init && !has_succeeded) return;
    }
  }

  void start(std::size_t i) {
    auto& state = state_.containers[i];
    if (state.last_exit) ++state.restarts;
    is_dirty_ = true;
    const Micros begun = wall_clock();
    // Before its first line: a log that is there already ends the run before.
    times_.begin_run(slots_[i].spec->log, slots_[i].spec->times, begun);
    const auto started = start_container(*slots_[i].spec, folder_, state_.mounting, mark_of(i));
    if (!started) {
      ended(
          i,
          {.exit_code = 128, .started_us = 0, .finished_us = wall_clock(), .reason = "StartError", .message = started.error()});
      return;
    }
    if (started->relay > 0 && slots_[i].spec->has_terminal) relays_.push_back(started->relay);
    if (!state.is_init) state_.phase = PodPhase::Running;
    state.phase = PodContainerPhase::Running;
    state.waiting_reason.clear();
    state.process = started->process;
    state.started_us = begun;
  }

  void ended(std::size_t i, PodExit exit) {
    auto& state = state_.containers[i];
    is_dirty_ = true;
    state.process = {};
    state.started_us = 0;
    if (!restarts_after(state, exit)) {
      state.phase = PodContainerPhase::Terminated;
      state.waiting_reason.clear();
      state.exit = std::move(exit);
      return;
    }
    auto& slot = slots_[i];
    if (exit.started_us != 0 && exit.finished_us - exit.started_us >= kHealthyRun) slot.backoff = 0;
    slot.due = steady_clock() + slot.backoff;
    slot.backoff = slot.backoff == 0 ? kFirstBackoff : std::min(slot.backoff * 2, kLongestBackoff);
    state.phase = PodContainerPhase::Waiting;
    state.waiting_reason = "CrashLoopBackOff";
    state.last_exit = std::move(exit);
  }

  bool restarts_after(const PodContainerState& state, const PodExit& exit) const {
    if (state_.is_stopping || manifest_.restart == PodRestart::Never) return false;
    return exit.exit_code != 0 || (manifest_.restart == PodRestart::Always && !state.is_init);
  }

  void reap() {
    while (true) {
      siginfo_t info = {};
      // Looked at before it is reaped: as long as the zombie is there, its number names no other group.
      if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
      const auto found = std::ranges::find_if(state_.containers, [&](const PodContainerState& state) {
        return state.phase == PodContainerPhase::Running && state.process.pid == info.si_pid;
      });
      if (found != state_.containers.end()) kill(-info.si_pid, SIGKILL);
      waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED);
      if (found != state_.containers.end()) {
        const auto i = static_cast<std::size_t>(found - state_.containers.begin());
        times_.note(wall_clock());
        ended(i, exit_of(info, found->started_us, wall_clock()));
      }
      kill_strays();
    }
  }

  /// 0: none.
  PodMark mark_of(std::size_t i) const { return state_.mark == 0 ? 0 : container_mark(state_.mark, i); }

  /// Kills adopted orphans whose container does not run. Their own children are adopted next, and come up when these are
  /// reaped.
  void kill_strays() {
    for (const pid_t pid : current_children()) {
      const auto container = container_of(pid);
      if (container && *container < slots_.size() && !runs(*container, pid)) kill(pid, SIGKILL);
    }
  }

  /// The container that a child belongs to; nothing for a relay.
  std::optional<std::size_t> container_of(pid_t pid) const {
    if (const auto marked = marked_container(state_.mark, pid)) return marked;
    const auto name = initial_variable(pid, kContainerVariable);
    const auto found = std::ranges::find_if(state_.containers, [&](const auto& state) { return state.name == name; });
    if (!name || found == state_.containers.end()) return std::nullopt;
    return static_cast<std::size_t>(found - state_.containers.begin());
  }

  bool runs(std::size_t container, pid_t pid) const {
    return state_.containers[container].phase == PodContainerPhase::Running ||
           std::ranges::any_of(state_.containers, [&](const PodContainerState& state) {
             return state.phase == PodContainerPhase::Running && state.process.pid == pid;
           });
  }

  void stop_what_is_late() {
    if (stop_deadline_ > steady_clock()) return;
    stop_deadline_ = kNever;
    signal_containers(SIGKILL);
  }

  void look_at_volumes() {
    const Micros begun = steady_clock();
    if (manifest_.limits.empty() || state_.is_stopping || begun < next_volume_look_) return;
    for (const PodVolumeLimit& limit : manifest_.limits) {
      if (disk_usage(limit.folder) > limit.bytes) return evict(limit);
    }
    const Micros now = steady_clock();
    volume_pause_ = std::max(std::min(volume_pause_ * 2, kLongestVolumePause), (now - begun) * kVolumeLookShare);
    next_volume_look_ = now + volume_pause_;
  }

  /// As the kubelet does, in its words.
  void evict(const PodVolumeLimit& limit) {
    state_.reason = "Evicted";
    state_.message = fmt::format("Usage of EmptyDir volume \"{}\" exceeds the limit \"{}\". ", limit.name, limit.bytes);
    stop_within(kEvictionGrace);
  }

  void signal_containers(int number) {
    for (const auto& state : state_.containers) {
      if (state.phase == PodContainerPhase::Running) kill(-static_cast<pid_t>(state.process.pid), number);
    }
  }

  /// The final phase, once nothing runs and nothing will be started.
  std::optional<PodPhase> judge() {
    bool all_succeeded = true;
    for (auto& state : state_.containers) {
      if (state.phase == PodContainerPhase::Running) return std::nullopt;
      if (state_.is_stopping && state.phase == PodContainerPhase::Waiting && state.last_exit) {
        state.phase = PodContainerPhase::Terminated;
        state.waiting_reason.clear();
        state.exit = *state.last_exit;
      }
      const bool has_failed = state.phase == PodContainerPhase::Terminated && state.exit.exit_code != 0;
      if (state.is_init && has_failed) return PodPhase::Failed;
      if (state.phase == PodContainerPhase::Waiting && !state_.is_stopping) return std::nullopt;
      all_succeeded = all_succeeded && state.phase == PodContainerPhase::Terminated && !has_failed;
    }
    return all_succeeded ? PodPhase::Succeeded : PodPhase::Failed;
  }

  int finish(PodPhase phase) {
    await_relays();
    end_descendants();
    times_.note(wall_clock());
    state_.phase = state_.reason.empty() ? phase : PodPhase::Failed;
    is_dirty_ = true;
    while (true) {
      const bool was_stopping = state_.is_stopping;
      durability_ = Durability::Synced;
      write_state();
      if (!is_dirty_) return 0;
      if (was_stopping) return 1;
      wait();
    }
  }

  /// What terminals have shown is to be in the logs. Relays end by themselves once nothing has the terminal open.
  void await_relays() {
    const Micros deadline = steady_clock() + kRelayPatience;
    for (const pid_t relay : relays_) {
      while (waitpid(relay, nullptr, WNOHANG) == 0 && steady_clock() < deadline) {
        const timespec pause = to_timespec(kSweepPause);
        nanosleep(&pause, nullptr);
      }
    }
    relays_.clear();
  }

  void end_descendants() {
    while (true) {
      const pid_t ended = waitpid(-1, nullptr, WNOHANG);
      if (ended < 0 && errno == ECHILD) return;
      if (ended > 0) continue;
      for (const pid_t pid : current_children()) kill(pid, SIGKILL);
      const timespec pause = to_timespec(kSweepPause);
      nanosleep(&pause, nullptr);
    }
  }

  void write_state() {
    if (!is_dirty_) return;
    const auto written = replace_file(fmt::format("{}/{}", folder_, kPodStateFile), encode_state(state_), 0644, durability_);
    is_dirty_ = !written;
    is_recorded_ = is_recorded_ || !is_dirty_;
    if (!written) fmt::print(stderr, "{}\n", written.error().message);
  }

  /// Until a signal, a deadline, or a log that grows; that is looked at once in a while only.
  void wait() {
    const sigset_t signals = watched_signals();
    const Micros now = steady_clock();
    const bool listens = now >= next_look_;
    const Micros until = listens ? next_deadline(now) : std::min(next_deadline(now), next_look_);
    const timespec pause = to_timespec(std::max<Micros>(until - now, 0));
    pollfd wakers[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                       {.fd = listens ? times_.fd() : -1, .events = POLLIN, .revents = 0}};
    ppoll(wakers, std::size(wakers), until == kNever ? nullptr : &pause, nullptr);
    if (wakers[1].revents != 0) {
      times_.note(wall_clock());
      const Micros looked = steady_clock();
      // A log that had already grown again when it could be looked at is a busy one.
      look_pause_ = looked - next_look_ < kLookPause ? std::min(look_pause_ * 2, kLongestLookPause) : kLookPause;
      next_look_ = looked + look_pause_;
    }
    const timespec at_once = {};
    const int number = sigtimedwait(&signals, nullptr, &at_once);
    if (number == SIGTERM || number == SIGINT) stop_within(grace_seconds() * kSecond);
  }

  Micros next_deadline(Micros now) const {
    Micros until = stop_deadline_;
    if (is_dirty_) until = std::min(until, now + kStateRetry);
    if (state_.is_stopping) return until;
    if (!manifest_.limits.empty()) until = std::min(until, next_volume_look_);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const bool is_due_later = state_.containers[i].phase == PodContainerPhase::Waiting && slots_[i].due > 0;
      if (is_due_later) until = std::min(until, slots_[i].due);
    }
    return until;
  }

  void stop_within(Micros grace) {
    state_.is_stopping = true;
    is_dirty_ = true;
    signal_containers(SIGTERM);
    stop_deadline_ = std::min(stop_deadline_, steady_clock() + grace);
  }

  std::int64_t grace_seconds() const {
    std::int64_t seconds = manifest_.grace_seconds;
    const auto text = read_file(fmt::format("{}/{}", folder_, kPodGraceFile));
    if (text) std::from_chars(text->data(), text->data() + text->size(), seconds);
    return std::clamp<std::int64_t>(seconds, 0, kLongestGrace);
  }

  std::string folder_;
  PodManifest manifest_;
  PodState state_;
  std::vector<Slot> slots_;  // beside state_.containers
  std::vector<pid_t> relays_;
  LogTimes times_;
  Micros look_pause_ = kLookPause;
  Micros next_look_ = 0;  // at the logs, on the steady clock
  Micros volume_pause_ = kFirstVolumePause / 2;
  Micros next_volume_look_ = 0;
  Descriptor signals_;  // readable when one is pending
  Micros stop_deadline_ = kNever;
  Durability durability_ = Durability::Renamed;
  bool is_recorded_ = false;  // some state is in the file
  bool is_dirty_ = false;     // state_ differs from the file
};

/// Ends every process of the pod but this one, and waits until they are gone.
void kill_pod(const std::string& pod_folder, PodMark mark) {
  bool has_some = true;
  while (has_some) {
    has_some = false;
    for (const pid_t pid : all_processes()) {
      const auto is_of_pod = [&] {
        const auto stat = pid == getpid() ? std::nullopt : read_proc_stat(pid);
        return stat && stat->state != 'Z' && (marked_container(mark, pid) || initial_variable(pid, kPodVariable) == pod_folder);
      };
      if (is_of_pod() && kill_if(pid, is_of_pod)) has_some = true;
    }
    const timespec pause = to_timespec(kSweepPause);
    if (has_some) nanosleep(&pause, nullptr);
  }
}

/// The end of a pod whose supervisor was killed.
PodState lost(PodState state) {
  state.phase = PodPhase::Lost;
  state.message = "the pod's supervisor was killed";
  for (auto& container : state.containers) {
    if (container.phase != PodContainerPhase::Running) continue;
    container.phase = PodContainerPhase::Terminated;
    container.exit = {.exit_code = 137,
                      .started_us = container.started_us,
                      .finished_us = wall_clock(),
                      .reason = "ContainerStatusUnknown",
                      .message = "The container could not be located when the pod was terminated"};
    container.process = {};
    container.started_us = 0;
  }
  return state;
}

int write_once(const std::string& pod_folder, const PodState& state) {
  const auto path = fmt::format("{}/{}", pod_folder, kPodStateFile);
  const auto written = replace_file(path, encode_state(state), 0644, Durability::Synced);
  if (!written) fmt::print(stderr, "{}\n", written.error().message);
  return written ? 0 : 1;
}

int continue_pod(const std::string& pod_folder, const std::string& old_text) {
  const auto old = decode_state(old_text);
  if (old && is_final(old->phase)) return 0;
  kill_pod(pod_folder, old ? old->mark : 0);
  return write_once(pod_folder, lost(old ? *old : PodState()));
}

int begin_pod(const std::string& pod_folder) {
  PodState state;
  state.supervisor = identify(getpid());
  state.mark = make_pod_mark();
  const auto text = read_file(fmt::format("{}/{}", pod_folder, kPodManifestFile));
  const auto manifest = text ? decode_manifest(*text) : Result<PodManifest>(fail(text.error()));
  if (!manifest) {
    state.phase = PodPhase::Failed;
    state.message = manifest.error().message;
    return write_once(pod_folder, state);
  }
  for (const auto name : {kPodWorkFolder, kPodRootFolder}) {
    if (const auto made = make_folders(fmt::format("{}/{}", pod_folder, name)); !made) {
      fmt::print(stderr, "{}\n", made.error().message);
      return 1;
    }
  }
  return Supervisor(pod_folder, *manifest, std::move(state)).run();
}

}  // namespace

int run_supervisor(const std::string& pod_folder) {
  const sigset_t signals = watched_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string lock_path = fmt::format("{}/{}", pod_folder, kPodLockFile);
  const Descriptor lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) {
    fmt::print(stderr, "cannot open {}: {}\n", lock_path, strerrordesc_np(errno));
    return 1;
  }
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return 0;  // another one runs this pod
  const auto old = read_file(fmt::format("{}/{}", pod_folder, kPodStateFile));
  return old ? continue_pod(pod_folder, *old) : begin_pod(pod_folder);
}

}  // namespace slipway::os

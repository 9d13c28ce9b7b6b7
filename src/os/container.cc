#include "os/container.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "os/files.h"
#include "os/mounts.h"
#include "os/proc.h"
#include "os/program.h"
#include "os/relay.h"

namespace slipway::os {
namespace {

void set_variable(std::vector<std::string>& env, std::string_view name, std::string_view value) {
  std::erase_if(env, [&](const std::string& entry) { return entry.starts_with(name) && entry.substr(name.size(), 1) == "="; });
  env.push_back(fmt::format("{}={}", name, value));
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// What the child does before its command; the text tells why it cannot. Runs in the forked child.
class ContainerLaunch {
 public:
  ContainerLaunch(const PodContainer& container, const std::string& pod_folder, PodMounting mounting)
      : container_(container),
        pod_folder_(pod_folder),
        mounting_(mounting),
        root_(fmt::format("{}/{}", pod_folder, kPodRootFolder)) {}

  /// Returns only when it failed.
  std::string execute(pid_t parent) {
    std::string folder = container_.folder;
    // Opened before anything is mounted: a volume may cover the path that leads to the pod's own folder. The path comes first
    // all the same: after a pivot the opened folder lies outside of the new root, and getcwd fails there.
    const std::string own = fmt::format("{}/{}", pod_folder_, kPodWorkFolder);
    const int own_folder = open(own.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    std::string pod_root;
    if (mounting_ == PodMounting::Namespace && !container_.mounts.empty()) {
      if (const auto mounted = enter_mounts(container_.mounts, root_); !mounted) return mounted.error();
    } else if (mounting_ == PodMounting::Mapped) {
      pod_root = fmt::format("{}/{}", root_, container_.name);
      if (const auto mapped = map_mounts(container_.mounts, pod_root); !mapped) return mapped.error();
      if (!folder.empty()) folder = mapped_path(container_.mounts, pod_root, folder);
    }
    const bool is_own = folder.empty();
    const bool is_entered =
        chdir(is_own ? own.c_str() : folder.c_str()) == 0 || (is_own && own_folder >= 0 && fchdir(own_folder) == 0);
    if (!is_entered) {
      return fmt::format("cannot enter working directory {}: {}", is_own ? own : folder, strerrordesc_np(errno));
    }
    if (const auto why = change_user(); !why.empty()) return why;
    if (const auto why = unreachable_mount(pod_root); !why.empty()) return why;
    // Last, since a change of credentials clears it. A parent that died before that does not count any more.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) return "the supervisor is gone";
    return run(pod_root);
  }

 private:
  /// Empty when the container's user and group are those of this process now, or are not named.
  std::string change_user() const {
    const bool is_other_group = container_.group && *container_.group != getegid();
    const bool is_other_user = container_.user && *container_.user != geteuid();
    if (!is_other_group && !is_other_user) return {};
    if (setgroups(0, nullptr) != 0 || (is_other_group && setgid(static_cast<gid_t>(*container_.group)) != 0)) {
      return fmt::format("securityContext.runAsGroup {}: {}", container_.group.value_or(getegid()), strerrordesc_np(errno));
    }
    if (is_other_user && setuid(static_cast<uid_t>(*container_.user)) != 0) {
      return fmt::format("securityContext.runAsUser {}: {}", *container_.user, strerrordesc_np(errno));
    }
    return {};
  }

  /// Where another user runs the container, the folders above the pod's may be closed to it. Empty when all can be reached.
  std::string unreachable_mount(const std::string& pod_root) const {
    if (!container_.user) return {};
    for (const PodMount& mount : container_.mounts) {
      const std::string path = pod_root + mount.target;
      if (access(path.c_str(), F_OK) == 0 || errno != EACCES) continue;
      return fmt::format("securityContext.runAsUser {}: that user cannot reach {}: a folder above it is closed to others",
                         *container_.user, path);
    }
    return {};
  }

  std::string run(const std::string& pod_root) {
    std::vector<std::string> argv = container_.argv;
    std::vector<std::string> env = container_.env;
    set_variable(env, "POD_ROOT", pod_root);
    set_variable(env, kPodVariable, pod_folder_);
    set_variable(env, kContainerVariable, container_.name);
    const bool has_term = std::ranges::any_of(env, [](const std::string& entry) { return entry.starts_with("TERM="); });
    if (container_.has_terminal && !has_term) env.push_back("TERM=xterm");
    const auto program = find_program(argv.front(), env);
    if (!program) return program.error();
    execve(program->c_str(), exec_pointers(argv).data(), exec_pointers(env).data());
    return exec_failure(argv.front(), errno == ENOEXEC ? "exec format error" : strerrordesc_np(errno));
  }

  const PodContainer& container_;
  const std::string& pod_folder_;
  PodMounting mounting_;
  std::string root_;
};

[[noreturn]] void become_container(ContainerLaunch launch, PodMark mark, pid_t parent, const Streams& streams, int report) {
  setsid();
  reset_signals();
  // Where that is refused the environment has to do.
  if (mark != 0) (void)carry_mark(mark);
  std::string why = "cannot redirect input and output";
  // Everything but the three standard descriptors closes with exec, whatever the supervisor inherited.
  if (dup2(streams.in.get(), 0) == 0 && dup2(streams.out.get(), 1) == 1 && dup2(streams.error.get(), 2) == 2 &&
      (!streams.is_terminal || ioctl(0, TIOCSCTTY, 0) == 0) && close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
    why = launch.execute(parent);
  }
  const ssize_t written = write(report, why.data(), why.size());
  _exit(written >= 0 ? 127 : 126);
}

/// Volumes and the working folder are made by the supervisor's user; another one is to write there too, as the kubelet has it.
/// Who can get at them is up to the folders above.
void open_to_others(const PodContainer& container, const std::string& pod_folder) {
  if (!container.user || *container.user == geteuid()) return;
  std::vector<std::string> folders = {fmt::format("{}/{}", pod_folder, kPodWorkFolder)};
  for (const PodMount& mount : container.mounts) {
    if (!mount.is_read_only) folders.push_back(mount.source);
  }
  for (const std::string& folder : folders) {
    const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (opened) (void)fchmod(opened.get(), 0777);
  }
}

/// What the child reported until it executed its command (nothing) or gave up.
std::string read_report(int fd) {
  std::string text;
  char buffer[512];
  while (true) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::expected<StartedContainer, std::string> start_container(const PodContainer& container, const std::string& pod_folder,
                                                             PodMounting mounting, PodMark mark) {
  const auto failure = [](std::string_view what) {
    return std::unexpected(fmt::format("{}: {}", what, strerrordesc_np(errno)));
  };
  const auto streams = open_streams(container);
  if (!streams) return std::unexpected(streams.error());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failure("cannot make a pipe");
  const Descriptor from_child(ends[0]);
  Descriptor to_parent(ends[1]);
  open_to_others(container, pod_folder);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return failure("cannot fork");
  if (child == 0) become_container(ContainerLaunch(container, pod_folder, mounting), mark, parent, *streams, to_parent.get());
  to_parent = Descriptor();
  const std::string why = read_report(from_child.get());
  if (why.empty()) return StartedContainer{identify(child), start_relay(container, child, *streams)};
  waitpid(child, nullptr, 0);
  return std::unexpected(why);
}

}  // namespace slipway::os

#include "os/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace slipway::os {
namespace {

using Step = StartFailure::Step;

/// What programs need to run: their own files, libraries, interpreters and what the dynamic linker reads.
constexpr const char* kSeen[] = {"/usr",
                                 "/bin",
                                 "/sbin",
                                 "/lib",
                                 "/lib32",
                                 "/lib64",
                                 "/libx32",
                                 "/opt",
                                 "/nix/store",
                                 "/etc/alternatives",
                                 "/etc/ld.so.cache",
                                 "/etc/ld.so.conf",
                                 "/etc/ld.so.conf.d",
                                 "/etc/localtime",
                                 "/etc/passwd",
                                 "/etc/group",
                                 "/etc/nsswitch.conf",
                                 "/dev/null",
                                 "/dev/zero",
                                 "/dev/full",
                                 "/dev/random",
                                 "/dev/urandom"};
constexpr unsigned kNobody = 65534;

bool put(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return is_written;
}

/// Makes the folders above the last part of a path that is below an existing folder of `kept` bytes. `path` is changed and
/// restored: no memory is taken.
int make_parents(char* path, std::size_t kept) {
  for (char* at = path + kept + 1; *at != 0; ++at) {
    if (*at != '/') continue;
    *at = 0;
    const int made = mkdir(path, 0755);
    *at = '/';
    if (made != 0 && errno != EEXIST) return errno;
  }
  return 0;
}

int make_read_only(const char* path, unsigned flags) {
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
  return mount_setattr(AT_FDCWD, path, flags, &attributes, sizeof attributes) == 0 ? 0 : errno;
}

/// Ends as the process `pid` does.
[[noreturn]] void end_as(pid_t pid) {
  int state = 0;
  while (true) {
    const pid_t ended = waitpid(-1, &state, 0);
    if (ended == pid) break;
    if (ended < 0 && errno != EINTR) _exit(126);
  }
  _exit(WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state));
}

}  // namespace

Result<Sandbox> Sandbox::prepare(const ProgramSandbox& wanted, const std::string& program, std::string staging) {
  Sandbox made;
  made.root_ = std::move(staging);
  made.tmp_ = made.root_ + "/tmp";
  made.proc_ = made.root_ + "/proc";
  made.tmp_options_ = fmt::format("mode=1777,size={}", wanted.max_file_bytes);
  made.user_map_ = fmt::format("{} {} 1", kNobody, geteuid());
  made.group_map_ = fmt::format("{} {} 1", kNobody, getegid());
  made.folder_ = "/tmp";
  for (const char* path : kSeen) made.add(path);
  char resolved[PATH_MAX];
  if (!wanted.folder.empty()) {
    struct stat found = {};
    const bool is_folder =
        realpath(wanted.folder.c_str(), resolved) != nullptr && stat(resolved, &found) == 0 && S_ISDIR(found.st_mode);
    if (!is_folder || std::string_view(resolved) == "/")
      return fail(Reason::BadRequest, fmt::format("{}: no folder for a sandbox", wanted.folder));
    made.folder_ = resolved;
    made.add(made.folder_);
  }
  if (realpath(program.c_str(), resolved) == nullptr) return fail(Reason::NotFound, fmt::format("{}: no such file", program));
  made.program_ = resolved;
  made.add(made.program_);
  return made;
}

void Sandbox::add(const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) return;
  for (const Bind& one : binds_) {
    const std::string& seen = one.source;
    if (one.is_folder && path.starts_with(seen) && path.substr(seen.size(), 1) == "/") return;
  }
  Bind bind{.source = path, .target = root_ + path, .is_folder = S_ISDIR(found.st_mode)};
  if (S_ISLNK(found.st_mode)) {
    char target[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size <= 0) return;
    bind.link.assign(target, static_cast<std::size_t>(size));
  }
  binds_.push_back(std::move(bind));
}

int Sandbox::bind(const Bind& one) const {
  char target[PATH_MAX];
  if (one.target.size() >= sizeof target) return ENAMETOOLONG;
  std::memcpy(target, one.target.c_str(), one.target.size() + 1);
  if (const int failure = make_parents(target, root_.size()); failure != 0) return failure;
  if (!one.link.empty()) return symlink(one.link.c_str(), target) == 0 ? 0 : errno;
  if (one.is_folder) {
    if (mkdir(target, 0755) != 0 && errno != EEXIST) return errno;
  } else {
    const int file = open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0) return errno;
    close(file);
  }
  if (mount(one.source.c_str(), target, nullptr, MS_BIND | MS_REC, nullptr) != 0) return errno;
  return make_read_only(target, AT_RECURSIVE);
}

StartFailure Sandbox::make_root() const {
  const auto failed = [](Step step) { return StartFailure{errno, step}; };
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed(Step::Mounts);
  if (mount("slipway", root_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4m") != 0) return failed(Step::Mounts);
  if (mkdir(tmp_.c_str(), 0777) != 0 || mkdir(proc_.c_str(), 0555) != 0) return failed(Step::Mounts);
  if (mount("slipway", tmp_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, tmp_options_.c_str()) != 0) return failed(Step::Mounts);
  // Programs do without it where it may not be mounted, as in some containers.
  (void)mount("slipway", proc_.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  for (const Bind& one : binds_) {
    if (const int failure = bind(one); failure != 0) return {failure, Step::Mounts};
  }
  if (chdir(root_.c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) return failed(Step::Root);
  if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return failed(Step::Root);
  if (const int failure = make_read_only("/", 0); failure != 0) return {failure, Step::Root};
  if (chdir(folder_.c_str()) != 0) return failed(Step::Root);
  return {};
}

StartFailure Sandbox::enter(int report) const {
  constexpr int kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (unshare(kNamespaces) != 0) return {errno, Step::Namespaces};
  (void)put("/proc/self/setgroups", "deny");
  if (!put("/proc/self/uid_map", user_map_) || !put("/proc/self/gid_map", group_map_)) return {errno, Step::Users};
  const pid_t first = _Fork();  // process 1 of the sandbox: when it ends, the kernel ends all of them
  if (first < 0) return {errno, Step::Namespaces};
  if (first > 0) {
    close(report);
    end_as(first);
  }
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return {errno, Step::Start};
  if (const StartFailure failure = make_root(); failure.error != 0) return failure;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {errno, Step::Start};
  const pid_t program = _Fork();  // not process 1 itself, which signals of its own would not end
  if (program < 0) return {errno, Step::Start};
  if (program > 0) {
    close(report);
    end_as(program);
  }
  return {};
}

TreeUse use_of_tree(pid_t pid, std::size_t most) {
  TreeUse use;
  std::vector<pid_t> open{pid};
  static const auto kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  while (!open.empty() && use.processes <= most) {
    const pid_t one = open.back();
    open.pop_back();
    ++use.processes;
    std::ifstream statm(fmt::format("/proc/{}/statm", one));
    std::size_t size = 0;
    std::size_t resident = 0;
    if (statm >> size >> resident) use.bytes += resident * kPage;
    std::error_code ended;
    for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", one), ended), end; !ended && task != end;
         task.increment(ended)) {
      std::ifstream children(task->path() / "children");
      for (pid_t child = 0; children >> child;) open.push_back(child);
    }
  }
  return use;
}

}  // namespace slipway::os

#include "os/program_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/files.h"
#include "os/program.h"
#include "os/sandbox.h"

namespace slipway::os {
namespace {

constexpr rlim_t kMaxFileBytes = rlim_t{1} << 30;
/// How often the use of a sandbox is looked at.
constexpr std::int64_t kLookMs = 100;
/// What is made with a sanitizer maps terabytes to begin with, and so may the programs that its tests run.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif
#else
constexpr bool kLimitsMemory = true;
#endif

std::int64_t monotonic_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::unexpected<Status> cannot_start(const ProgramCall& call, std::string_view what) {
  return fail(Reason::ServiceUnavailable, exec_failure(call.name, what));
}

/// The program's working folder; removed at the end.
class WorkFolder {
 public:
  WorkFolder() {
    const char* base = getenv("TMPDIR");
    std::string name = fmt::format("{}/slipway-program-XXXXXX", base != nullptr && *base != 0 ? base : "/tmp");
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    if (!path_.empty()) (void)MachineFiles().remove_all(path_);
  }

  const std::string& path() const { return path_; }  // empty: it could not be made

  Result<void> fill(const std::map<std::string, ProgramFile>& files) const {
    for (const auto& [name, file] : files) {
      if (!is_inside(name)) return fail(Reason::BadRequest, fmt::format("{}: not a path below a folder", name));
      const std::string path = fmt::format("{}/{}", path_, name);
      SLIPWAY_TRY_VOID(make_folders(path.substr(0, path.rfind('/'))));
      const unsigned mode = file.mode == ProgramFile::Mode::executable ? 0700 : 0600;
      SLIPWAY_TRY_VOID(replace_file(path, file.content, mode, Durability::Renamed));
    }
    return {};
  }

 private:
  static bool is_inside(std::string_view path) {
    if (path.empty() || path.find('\0') != std::string_view::npos) return false;
    while (true) {
      const auto end = std::min(path.find('/'), path.size());
      const auto segment = path.substr(0, end);
      if (segment.empty() || segment == "." || segment == "..") return false;
      if (end == path.size()) return true;
      path.remove_prefix(end + 1);
    }
  }

  std::string path_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;

  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    return true;
  }
};

Descriptor input_of(const std::string& text) {
  Descriptor file(memfd_create("slipway-input", MFD_CLOEXEC));
  std::string_view left = text;
  while (file && !left.empty()) {
    const ssize_t written = write(file.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return {};
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file) lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// All that the child needs, made before fork(): after it, other threads' locks may be held for ever, so that it may only make
/// system calls.
class Launch {
 public:
  Launch(const ProgramCall& call, std::string program, std::string folder, std::optional<Sandbox> sandbox)
      : program_(sandbox ? sandbox->program() : std::move(program)),
        folder_(sandbox ? "/tmp" : std::move(folder)),
        sandbox_(std::move(sandbox)),
        is_alone_(call.network == ProgramCall::Network::none),
        user_map_(fmt::format("{0} {0} 1", geteuid())),
        group_map_(fmt::format("{0} {0} 1", getegid())),
        parent_(getpid()) {
    argv_ = call.arguments;
    argv_.insert(argv_.begin(), call.name);
    const char* path = getenv("PATH");
    env_ = {fmt::format("HOME={}", folder_), fmt::format("TMPDIR={}", folder_), "LANG=C.UTF-8"};
    if (path != nullptr) env_.push_back(fmt::format("PATH={}", path));
    for (const auto& [name, value] : call.variables) {
      if (name != "HOME" && name != "TMPDIR" && name != "LANG" && name != "PATH")
        env_.push_back(fmt::format("{}={}", name, value));
    }
    argv_pointers_ = exec_pointers(argv_);
    env_pointers_ = exec_pointers(env_);
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(call.timeout).count();
    cpu_seconds_ = static_cast<rlim_t>(std::max<std::int64_t>(seconds, 1)) * 8;  // threads count each
    if (call.sandbox) data_bytes_ = call.sandbox->max_memory_bytes;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  /// In the child. Returns only when it failed.
  StartFailure execute(int in, int out, int error, int report) {
    setsid();
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (dup2(in, 0) != 0 || dup2(out, 1) != 1 || dup2(error, 2) != 2) return {errno};
    // Closed now, and not by exec: a sandbox's first processes become no program, and what they hold of another start would
    // keep that one waiting. Nothing that is needed below is open yet.
    if (report > 3 && close_range(3, static_cast<unsigned>(report) - 1, 0) != 0) return {errno};
    if (close_range(static_cast<unsigned>(std::max(report, 2)) + 1, ~0U, 0) != 0) return {errno};
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, kMaxFileBytes);
    limit(RLIMIT_CPU, cpu_seconds_);
    if (is_alone_ && !sandbox_) leave_network();
    if (!sandbox_ && chdir(folder_.c_str()) != 0) return {errno};
    // After the change of namespaces, which may clear it. It strikes when the pool's thread ends, which waits for the program.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return {errno};
    if (getppid() != parent_) return {ESRCH};
    if (sandbox_) {
      if (const StartFailure failure = sandbox_->enter(report); failure.error != 0) return failure;
      if (kLimitsMemory) limit(RLIMIT_DATA, data_bytes_);
    }
    execve(program_.c_str(), argv_pointers_.data(), env_pointers_.data());
    return {errno};
  }

 private:
  /// Where user namespaces are refused the program keeps the machine's network (base/programs.h).
  void leave_network() const {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return;
    put("/proc/self/setgroups", "deny");
    put("/proc/self/uid_map", user_map_);
    put("/proc/self/gid_map", group_map_);
  }

  static void put(const char* path, std::string_view text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!write(file, text.data(), text.size());
    close(file);
  }

  static void limit(int resource, rlim_t most) {
    rlimit bound = {};
    if (getrlimit(static_cast<__rlimit_resource_t>(resource), &bound) != 0) return;
    bound.rlim_cur = bound.rlim_max = std::min(bound.rlim_max, most);
    (void)setrlimit(static_cast<__rlimit_resource_t>(resource), &bound);
  }

  std::string program_;
  std::string folder_;
  std::optional<Sandbox> sandbox_;
  rlim_t data_bytes_ = RLIM_INFINITY;
  bool is_alone_;
  std::string user_map_;
  std::string group_map_;
  pid_t parent_;
  std::vector<std::string> argv_;
  std::vector<std::string> env_;
  std::vector<char*> argv_pointers_;
  std::vector<char*> env_pointers_;
  rlim_t cpu_seconds_ = 0;
};

/// A child that runs; killed and reaped at the end, with all of its session that did not leave it.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), ended_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U))) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) (void)reap();
  }

  int pidfd() const { return ended_.get(); }
  pid_t pid() const { return pid_; }

  /// Its code, 128 + N for signal N.
  int reap() {
    kill(-pid_, SIGKILL);  // before it is reaped: the number is still its own
    kill(pid_, SIGKILL);   // it has no session of its own yet when it has only just begun
    int state = 0;
    while (waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  }
  /// As reap(), once it has ended by itself.
  int collect() {
    siginfo_t info = {};
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    return reap();
  }

 private:
  pid_t pid_;
  Descriptor ended_;
};

/// What comes out of a pipe, up to a bound.
struct Stream {
  Descriptor end;
  std::size_t most;
  std::string text{};
  bool is_over_bound = false;
  bool is_open = true;

  /// Takes what is there without waiting.
  void take() {
    std::array<char, 16384> piece{};
    while (is_open) {
      const ssize_t got = read(end.get(), piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        is_open = false;
        return;
      }
      const auto room = std::min(static_cast<std::size_t>(got), most - text.size());
      text.append(piece.data(), room);
      if (room < static_cast<std::size_t>(got)) {
        is_over_bound = true;
        return;
      }
    }
  }
  /// Beyond its bound the rest is thrown away.
  void drain() {
    take();
    while (is_over_bound && is_open) {
      is_over_bound = false;
      take();
    }
  }
};

/// Whether all processes of a sandbox have what they may.
Result<void> check_use(const ProgramCall& call, const Child& child) {
  constexpr std::size_t kOwn = 2;  // that wait for the program
  const std::size_t most = call.sandbox->max_processes + kOwn;
  const TreeUse use = use_of_tree(child.pid(), most);
  if (use.processes > most) {
    return fail(Reason::RequestEntityTooLarge,
                fmt::format("{}: it has more than {} processes", call.name, call.sandbox->max_processes));
  }
  if (kLimitsMemory && use.bytes > call.sandbox->max_memory_bytes) {
    return fail(Reason::RequestEntityTooLarge,
                fmt::format("{}: it uses more than {} bytes of memory", call.name, call.sandbox->max_memory_bytes));
  }
  return {};
}

/// What may end a program from outside.
struct Bounds {
  int stopping;           // a descriptor
  std::int64_t deadline;  // in monotonic_ms()
};

std::unexpected<Status> too_late(const ProgramCall& call) {
  return fail(Reason::Timeout, fmt::format("{}: not done within {} s", call.name,
                                           std::chrono::duration_cast<std::chrono::seconds>(call.timeout).count()));
}

std::unexpected<Status> stopped(const ProgramCall& call) {
  return fail(Reason::ServiceUnavailable, fmt::format("{}: Slipway stops", call.name));
}

Result<ProgramEnd> follow(const ProgramCall& call, Child& child, Stream output, Stream error, Bounds bounds) {
  std::int64_t next_look = monotonic_ms() + kLookMs;
  for (bool has_ended = false; !has_ended;) {
    std::array<pollfd, 4> waits = {pollfd{.fd = child.pidfd(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = bounds.stopping, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = output.is_open ? output.end.get() : -1, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = error.is_open ? error.end.get() : -1, .events = POLLIN, .revents = 0}};
    const std::int64_t left = bounds.deadline - monotonic_ms();
    if (left <= 0) return too_late(call);
    const std::int64_t pause = call.sandbox ? kLookMs : 60'000;
    if (poll(waits.data(), waits.size(), static_cast<int>(std::min(left, pause))) < 0 && errno != EINTR) {
      return cannot_start(call, strerrordesc_np(errno));
    }
    if (waits[1].revents != 0) return stopped(call);
    has_ended = waits[0].revents != 0;
    if (call.sandbox && !has_ended && monotonic_ms() >= next_look) {
      SLIPWAY_TRY_VOID(check_use(call, child));
      next_look = monotonic_ms() + kLookMs;
    }
    output.take();
    error.drain();
    if (output.is_over_bound) {
      return fail(Reason::RequestEntityTooLarge,
                  fmt::format("{}: its output is larger than {} bytes", call.name, call.max_output_bytes));
    }
  }
  const int code = child.collect();
  return ProgramEnd{.code = code, .output = std::move(output.text), .error = std::move(error.text)};
}

std::unexpected<Status> not_started(const ProgramCall& call, const StartFailure& failure) {
  constexpr const char* kSteps[] = {"", "namespaces", "users", "mounts", "a root of its own"};
  const char* why = strerrordesc_np(failure.error);
  if (failure.step == StartFailure::Step::Start) return cannot_start(call, why);
  return fail(Reason::Forbidden, exec_failure(call.name, fmt::format("not run, as the kernel refuses it a sandbox: {}: {}",
                                                                     kSteps[static_cast<int>(failure.step)], why)));
}

/// Waits for exec, which closes the pipe; the child writes into it what keeps it from that.
Result<void> wait_started(const ProgramCall& call, Descriptor report, Bounds bounds) {
  while (true) {
    std::array<pollfd, 2> waits = {pollfd{.fd = report.get(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = bounds.stopping, .events = POLLIN, .revents = 0}};
    const std::int64_t left = bounds.deadline - monotonic_ms();
    if (left <= 0) return too_late(call);
    const int ready = poll(waits.data(), waits.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return cannot_start(call, strerrordesc_np(errno));
    if (ready <= 0) continue;
    if (waits[1].revents != 0) return stopped(call);
    StartFailure failure;
    const ssize_t got = read(report.get(), &failure, sizeof failure);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) return {};
    return not_started(call, got == static_cast<ssize_t>(sizeof failure) ? failure : StartFailure{EIO});
  }
}

void make_nonblocking(const Descriptor& end) { fcntl(end.get(), F_SETFL, fcntl(end.get(), F_GETFL) | O_NONBLOCK); }

}  // namespace

Result<ProgramEnd> run_program(const ProgramCall& call, int stopping) {
  const char* path = getenv("PATH");
  auto program = find_program(call.name, {fmt::format("PATH={}", path != nullptr ? path : "")});
  if (!program) return fail(Reason::NotFound, program.error());
  const WorkFolder folder;
  if (folder.path().empty()) return cannot_start(call, "no temporary folder");
  SLIPWAY_TRY_VOID(folder.fill(call.files));
  std::optional<Sandbox> sandbox;
  if (call.sandbox) {
    if (!call.files.empty()) return fail(Reason::BadRequest, "files for a program in a sandbox are not implemented");
    SLIPWAY_TRY(prepared, Sandbox::prepare(*call.sandbox, *program, folder.path()));
    sandbox = std::move(prepared);
  }
  Pipe output;
  Pipe error;
  Pipe report;
  const Descriptor input = input_of(call.input);
  if (!input || !output.open() || !error.open() || !report.open()) return cannot_start(call, strerrordesc_np(errno));
  Launch launch(call, *program, folder.path(), std::move(sandbox));
  const pid_t pid = fork();
  if (pid < 0) return cannot_start(call, strerrordesc_np(errno));
  if (pid == 0) {
    const StartFailure failure = launch.execute(input.get(), output.write.get(), error.write.get(), report.write.get());
    const ssize_t written = write(report.write.get(), &failure, sizeof failure);
    _exit(written > 0 ? 127 : 126);
  }
  Child child(pid);
  for (Pipe* one : {&output, &error, &report}) one->write = Descriptor();
  const Bounds bounds{.stopping = stopping,
                      .deadline = monotonic_ms() + std::chrono::ceil<std::chrono::milliseconds>(call.timeout).count()};
  SLIPWAY_TRY_VOID(wait_started(call, std::move(report.read), bounds));
  if (child.pidfd() < 0) return cannot_start(call, "no process descriptor");
  make_nonblocking(output.read);
  make_nonblocking(error.read);
  return follow(call, child, {.end = std::move(output.read), .most = call.max_output_bytes},
                {.end = std::move(error.read), .most = Programs::kMaxErrorBytes}, bounds);
}

}  // namespace slipway::os

#include "os/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "os/files.h"
#include "os/proc.h"
#include "os/program.h"

namespace slipway::os {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(50);

Descriptor open_pidfd(std::int64_t pid) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0U)));
}

/// What posix_spawn is to do between fork and exec.
class SpawnPlan {
 public:
  explicit SpawnPlan(const ProcessSpec& spec) {
    const char* output = spec.output.empty() ? "/dev/null" : spec.output.c_str();
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions_, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    if (!spec.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, spec.folder.c_str());
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

struct MachineProcesses::Watch {
  Watch(boost::asio::io_context& context, Env& env, ProcessId watched, int pidfd)
      : process(watched), descriptor(context, pidfd), has_ended(env) {}

  ProcessId process;
  boost::asio::posix::stream_descriptor descriptor;
  Signal has_ended;
};

MachineProcesses::MachineProcesses(boost::asio::io_context& context, Env& env) : context_(context), env_(env) {}
MachineProcesses::~MachineProcesses() = default;

Result<ProcessId> MachineProcesses::start(ProcessSpec spec) {
  SLIPWAY_CHECK(!spec.argv.empty());
  const auto program = find_program(spec.argv.front(), spec.env);
  if (!program) return fail(Reason::NotFound, program.error());
  const SpawnPlan plan(spec);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program->c_str(), plan.actions(), plan.attributes(), exec_pointers(spec.argv).data(),
                                exec_pointers(spec.env).data());
  if (error != 0) return file_failure(error, "start", spec.argv.front());
  const ProcessId process = identify(pid);  // not reaped yet, so the number is its own
  watch(process);
  return process;
}

bool MachineProcesses::is_alive(ProcessId process) { return is_running(process); }

Result<void> MachineProcesses::signal(ProcessId process, int signal_number) {
  const Descriptor pidfd = open_pidfd(process.pid);
  // Looked at after the descriptor is open: from here on it stands for this very process.
  if (!pidfd || !is_running(process)) return {};
  if (syscall(SYS_pidfd_send_signal, pidfd.get(), signal_number, nullptr, 0U) != 0 && errno != ESRCH) {
    return file_failure(errno, "signal", fmt::format("process {}", process.pid));
  }
  return {};
}

Task<> MachineProcesses::wait_end(ProcessId process) {
  while (is_running(process)) {
    if (const auto watched = watch(process)) {
      co_await watched->has_ended.wait();
    } else {
      co_await sleep_for(env_, kPollInterval);  // no descriptor to be had
    }
  }
  // One that had ended before it could be watched is still to be reaped.
  waitpid(static_cast<pid_t>(process.pid), nullptr, WNOHANG);
}

std::shared_ptr<MachineProcesses::Watch> MachineProcesses::watch(ProcessId process) {
  if (const auto found = watches_.find(process.pid); found != watches_.end() && found->second->process == process) {
    return found->second;
  }
  Descriptor pidfd = open_pidfd(process.pid);
  const auto stat = pidfd ? read_proc_stat(static_cast<pid_t>(process.pid)) : std::nullopt;
  if (!stat || stat->start_ticks != process.start_ticks) return nullptr;
  const auto made = std::make_shared<Watch>(context_, env_, process, pidfd.release());
  watches_[process.pid] = made;
  made->descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this, made](boost::system::error_code error) {
    if (error) return;
    waitpid(static_cast<pid_t>(made->process.pid), nullptr, WNOHANG);  // does nothing unless it is a child
    if (const auto found = watches_.find(made->process.pid); found != watches_.end() && found->second == made)
      watches_.erase(found);
    made->has_ended.notify();
  });
  return made;
}

void MachineProcesses::shut() {
  for (const auto& [pid, watched] : watches_) watched->descriptor.close();
  watches_.clear();
}

}  // namespace slipway::os

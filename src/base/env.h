// The outside world, handed in. Time, randomness, executors, files and processes are interfaces here; room os implements them
// on the machine, room sim in virtual time. Nothing else in Slipway may ask the machine, so the same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/status.h"
#include "base/task.h"
#include "base/time.h"

struct sqlite3_vfs;

namespace slipway {

class Git;
class Programs;

/// Cancels its call when destroyed; may be destroyed from within the call.
class Timer {
 public:
  virtual ~Timer() = default;
};

class Clock {
 public:
  virtual ~Clock() = default;
  /// Wall clock, UTC: for what is written into objects and compared with times in objects or certificates. May be set at any
  /// time, so no duration is measured by it.
  virtual Time now() const = 0;
  /// Monotonic: never goes backwards, runs on while the machine sleeps, cannot be set. For every wait, time-out, back-off and
  /// lease.
  virtual Steady steady() const = 0;
  /// Calls `call` on the Env's executor at or after `when`, once. Calls of the same moment keep the order of their making.
  virtual std::unique_ptr<Timer> call_at(Steady when, std::move_only_function<void()> call) = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
};

/// A version 4 UUID.
std::string uuid(Random& random);
/// Five characters of "bcdfghjklmnpqrstvwxz2456789", for generateName.
std::string name_suffix(Random& random);
/// `base` spread by up to `fraction` of itself, upwards (as wait.Jitter).
Duration jitter(Random& random, Duration base, double fraction);

/// Runs blocking or heavy work away from the logic thread; inline in the simulator. The work must touch nothing of the logic
/// thread's. One lane keeps the order of its work.
class Lane {
 public:
  virtual ~Lane() = default;
  /// Runs `work`, then calls `done` on the Env's executor.
  virtual void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) = 0;
};
/// Suspends until `work` has run on `lane`. What the work throws is thrown here.
Task<> run_on(Env& env, Lane& lane, std::move_only_function<void()> work);

/// Files below folders that Slipway owns (data directory) or was pointed at. Paths are absolute or relative to the process.
/// Errors: NotFound, Forbidden, AlreadyExists, ServiceUnavailable "disk full", InternalError; the message names the path.
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::string> read(const std::string& path) = 0;
  /// Bytes from `offset` to the end, `limit` at most; empty at the end.
  virtual Result<std::string> read_from(const std::string& path, std::uint64_t offset, std::size_t limit) = 0;
  /// Replaces the file in one step (temporary name, sync, rename).
  virtual Result<void> write(const std::string& path, std::string_view content, unsigned mode) = 0;
  virtual Result<void> make_folders(const std::string& path) = 0;
  virtual Result<void> symlink(const std::string& target, const std::string& path) = 0;
  /// Removes a file or a whole folder; absent is fine. Never follows links.
  virtual Result<void> remove_all(const std::string& path) = 0;
  virtual bool exists(const std::string& path) = 0;
  /// Names in a folder, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
};

/// A process told apart from a later one with the same number.
struct ProcessId {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat; any stable stamp in the simulator

  bool operator==(const ProcessId&) const = default;
};

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH of `env`
  std::vector<std::string> env;   // "NAME=value"
  std::string folder;             // working directory
  std::string output;             // file that takes stdout and stderr, appended; empty: /dev/null
};

/// Processes that outlive Slipway (pod supervisors). See cluster/process_runtime.h for who uses it.
class Processes {
 public:
  virtual ~Processes() = default;
  /// Starts a process in a session of its own. NotFound when the program is missing.
  virtual Result<ProcessId> start(ProcessSpec spec) = 0;
  virtual bool is_alive(ProcessId process) = 0;
  /// Sends a signal to the process only; absent processes are fine.
  virtual Result<void> signal(ProcessId process, int signal_number) = 0;
  /// Waits until the process has ended; works for processes started by an earlier Slipway too.
  virtual Task<> wait_end(ProcessId process) = 0;
};

/// Everything a plane may use. Members are references: the owner (cli or sim) outlives the plane.
struct Env {
  Executor executor;
  Clock& clock;
  Random& random;
  Lane& commits;  // SQLite commits, in order
  Lane& compute;  // templates, heavy pure functions
  Files& files;
  Processes& processes;
  sqlite3_vfs* vfs;  // nullptr: SQLite's default
  Log& log;
  Metrics& metrics;
  Parking parking{};
  Git* git = nullptr;            // base/git.h; null where nothing was set up for it
  Programs* programs = nullptr;  // base/programs.h; null where none may be run
};

}  // namespace slipway

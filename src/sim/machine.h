// The machine under the controllers' process: its files, and the supervisors of process pods, which outlive Slipway.
// Supervisors are played: a container's command `run DURATION [EXIT_CODE]` takes that long in virtual time. Every operation of
// the controllers on files and processes has its two points, as those on their client have.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/memory_files.h"
#include "base/pod_record.h"
#include "sim/domain.h"
#include "sim/fault.h"

namespace slipway::sim {

/// Says whether an operation takes effect, and whether its answer arrives. False once the caller's process is to die: what it
/// still does in that step must not be seen.
class Gate {
 public:
  virtual ~Gate() = default;
  virtual bool pass(Moment moment, std::string_view what, bool is_write) = 0;
};

/// Supervisors by their process number. They live in a domain of their own.
class Supervisors {
 public:
  Supervisors(Domain& domain, Files& disk) : domain_(domain), disk_(disk) {}

  /// As `slipway pod-supervisor FOLDER`: one runs a folder, others leave at once; on the folder of a dead one it records Lost.
  ProcessId start(const std::string& folder);
  bool is_alive(ProcessId process) const;
  void terminate(ProcessId process);
  std::size_t started() const { return processes_.size(); }

 private:
  struct Process {
    std::string folder;
    bool is_alive = true;
    bool is_terminated = false;
  };

  Task<> supervise(std::int64_t pid);
  void record(std::int64_t pid, PodPhase phase, const PodManifest& manifest, std::int32_t exit_code, Time started);
  void end(std::int64_t pid) { processes_[pid].is_alive = false; }

  Domain& domain_;
  Files& disk_;
  std::map<std::int64_t, Process> processes_;
};

/// The controllers' way to the supervisors.
class FaultProcesses : public Processes {
 public:
  FaultProcesses(Supervisors& supervisors, Gate& gate) : supervisors_(supervisors), gate_(gate) {}
  void attach(Env& caller) { caller_ = &caller; }

  Result<ProcessId> start(ProcessSpec spec) override;
  bool is_alive(ProcessId process) override { return supervisors_.is_alive(process); }
  Result<void> signal(ProcessId process, int signal_number) override;
  Task<> wait_end(ProcessId process) override;

 private:
  Supervisors& supervisors_;
  Gate& gate_;
  Env* caller_ = nullptr;
};

/// The controllers' way to the disk's files. Reads pass; each change has its points.
class FaultFiles : public Files {
 public:
  FaultFiles(Files& disk, Gate& gate) : disk_(disk), gate_(gate) {}

  Result<std::string> read(const std::string& path) override { return disk_.read(path); }
  Result<std::string> read_from(const std::string& path, std::uint64_t offset, std::size_t limit) override {
    return disk_.read_from(path, offset, limit);
  }
  Result<void> write(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> make_folders(const std::string& path) override;
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<void> remove_all(const std::string& path) override;
  bool exists(const std::string& path) override { return disk_.exists(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return disk_.list(path); }

 private:
  Result<void> change(std::string_view what, const std::string& path, const std::function<Result<void>()>& effect);

  Files& disk_;
  Gate& gate_;
};

}  // namespace slipway::sim

// One simulated process: its own run queue, clock, executor and parking lot, so that it can die alone. What outlives a process
// (disk, files, other processes, randomness) is handed in by the world. A domain that died can be used again: it is the next
// process.
#pragma once

#include "base/manual_env.h"

namespace slipway::sim {

class Domain {
 public:
  struct Outside {
    Random& random;
    Files& files;
    Processes& processes;
    sqlite3_vfs* vfs;
    Log& log;
    Metrics& metrics;
  };

  Domain(std::string name, Outside outside);
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  ~Domain() { die(); }

  const std::string& name() const { return name_; }
  Env& env() { return env_; }
  RunQueue& queue() { return queue_; }
  VirtualClock& clock() { return clock_; }

  /// Starts a task that belongs to this process.
  void spawn(Task<> task);
  /// Destroys every coroutine, timer and ready call of this process. Not from inside it.
  void die();

 private:
  std::string name_;
  RunQueue queue_;
  VirtualClock clock_;
  InlineLane commits_;
  InlineLane compute_;
  Env env_;
};

}  // namespace slipway::sim

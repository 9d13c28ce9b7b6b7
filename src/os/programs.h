// Programs (base/programs.h) as child processes. Each runs on a thread of a small pool whose only work is to feed it, to read
// it and to end it: in a session of its own, with nothing open but the standard descriptors, with bounds on CPU time and the
// size of files, and with SIGKILL for the whole session when its time or its output is used up or Slipway stops. Should Slipway
// be killed, the kernel kills the program with it.
#pragma once

#include <memory>

#include "base/programs.h"
#include "os/compute_pool.h"
#include "os/files.h"

namespace slipway::os {

class MachinePrograms : public Programs {
 public:
  /// `env` is only kept, not used, by the constructor. `max_time`: of a program, whatever its caller allows. `threads`:
  /// programs that run at a time.
  MachinePrograms(Env& env, Executor executor, Duration max_time, std::size_t threads = 4);
  ~MachinePrograms() override { stop(); }

  Result<std::string> find(const std::string& name) override;
  Task<Result<ProgramEnd>> run(ProgramCall call) override;
  /// Kills what runs and waits for it; what is not begun never runs. Idempotent.
  void stop();

 private:
  Env& env_;
  Duration max_time_;
  Descriptor stopping_;  // an eventfd, readable once stop() was called
  ThreadPool pool_;
};

}  // namespace slipway::os

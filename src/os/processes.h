// Child processes that outlive Slipway. Started with posix_spawn in a session of their own, with nothing open but the standard
// descriptors; watched through pidfds, so those of an earlier Slipway can be awaited too. Own children are reaped as they end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>

#include "base/env.h"

namespace slipway::os {

class MachineProcesses : public Processes {
 public:
  /// `env` is only kept, not used, by the constructor.
  MachineProcesses(boost::asio::io_context& context, Env& env);
  ~MachineProcesses() override;

  Result<ProcessId> start(ProcessSpec spec) override;
  bool is_alive(ProcessId process) override;
  Result<void> signal(ProcessId process, int signal_number) override;
  Task<> wait_end(ProcessId process) override;
  /// Lets go of the io_context. Processes live on.
  void shut();

 private:
  struct Watch;
  /// Nothing when the process has ended or cannot be watched.
  std::shared_ptr<Watch> watch(ProcessId process);

  boost::asio::io_context& context_;
  Env& env_;
  std::map<std::int64_t, std::shared_ptr<Watch>> watches_;
};

}  // namespace slipway::os

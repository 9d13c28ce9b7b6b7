// `slipway controller` beside `slipway up`, for measurements: the child process, and what the server says of its requests.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/task.h"
#include "up_process.h"

namespace slipway::bench {

class ControllerProcess {
 public:
  /// `folder` is the server's: its kubeconfig is used. `args` are those of another program than Slipway. Ends with this object.
  ControllerProcess(const std::string& binary, const std::string& folder, std::vector<std::string> args = {"controller"});
  ~ControllerProcess();
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;

  int pid() const { return pid_; }
  /// Interrupts it and waits for its end without holding up this process, which may be its server.
  Task<> stop(Env& env);
  /// CPU of all its threads since its start, user and system.
  double cpu_ms() const;

 private:
  pid_t pid_;
};

/// Requests that the server has answered, from its metrics.
struct Requests {
  double all = 0;
  double writes = 0;                        // of these, those that change objects; dry runs are not among them
  std::map<std::string, double> by_kind{};  // "PATCH deployments "
};

/// The body of a GET; ends this program when it is not answered by 200.
Task<std::string> text_of(up::User& user, std::string path);
Task<Requests> requests_so_far(up::User& user);
/// "load of the machine 1.2 now, 0.9 over five minutes, 2 cores"
std::string load_note();

}  // namespace slipway::bench

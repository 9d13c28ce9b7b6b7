// Through which logs and exec reach a pod runtime.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/task.h"
#include "kube/object.h"

namespace slipway::server {

struct LogQuery {
  std::string container;  // empty: the only one, or BadRequest
  std::uint64_t offset = 0;
  std::size_t limit = std::size_t{1} << 20;
};

struct ExecQuery {
  std::string container;
  std::vector<std::string> command;  // empty: the container's own, which runs already (attach)
  bool has_input = false;
  bool has_terminal = false;  // of an exec; a container has the one of its spec
};

/// What a command in a container has printed since the last look, and how it ended; of an attached container always with 0.
struct ExecOutput {
  std::string out;
  std::string err;
  std::optional<int> exit_code;  // with it nothing more comes
};

/// A command that runs in a container, or the container's own.
class PodExec {
 public:
  virtual ~PodExec() = default;
  /// Waits for output or the end. InternalError when the command could not be run.
  virtual Task<Result<ExecOutput>> next() = 0;
  /// Input for it; "" ends the input. Waits while it takes nothing; never fails for a command that does not want it.
  virtual Task<Result<void>> write(std::string bytes) = 0;
  /// Of its terminal, in characters.
  virtual void resize(unsigned columns, unsigned rows) = 0;
  /// The client has gone: ends the command (an attached container runs on), a pending next() and write().
  virtual void close() = 0;
};

class PodBackend {
 public:
  virtual ~PodBackend() = default;
  /// Whether exec() does anything.
  virtual bool runs_commands() const { return false; }
  /// Starts a command in the environment of a running container. NotImplemented where there is no such thing.
  virtual Task<Result<std::unique_ptr<PodExec>>> exec(kube::Object, ExecQuery) {
    co_return fail(Reason::NotImplemented, "commands in simulated pods are not implemented");
  }
  /// Follows what a running container prints from now on.
  virtual Task<Result<std::unique_ptr<PodExec>>> attach(kube::Object, ExecQuery) {
    co_return fail(Reason::NotImplemented, "commands in simulated pods are not implemented");
  }
  /// Bytes of a container's log from an offset; empty at its present end. NotFound when there is none yet.
  virtual Task<Result<std::string>> logs(kube::Object pod, LogQuery query) = 0;
  /// The same of what is known of the log's times and runs (PodLogMark lines, base/pod_record.h); empty when nothing is.
  virtual Task<Result<std::string>> log_times(kube::Object, LogQuery) { co_return std::string(); }
};

}  // namespace slipway::server

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
  std::vector<std::string> command;
};

/// What a command in a container has printed since the last look, and how it ended.
struct ExecOutput {
  std::string out;
  std::string err;
  std::optional<int> exit_code;  // with it nothing more comes
};

/// A command that runs in a container.
class PodExec {
 public:
  virtual ~PodExec() = default;
  /// Waits for output or the end. InternalError when the command could not be run.
  virtual Task<Result<ExecOutput>> next() = 0;
  /// The client has gone: ends the command, and a pending next().
  virtual void close() = 0;
};

class PodBackend {
 public:
  virtual ~PodBackend() = default;
  /// Whether exec() does anything.
  virtual bool runs_commands() const { return false; }
  /// Starts a command, without input, in the environment of a running container. NotImplemented where there is no such thing.
  virtual Task<Result<std::unique_ptr<PodExec>>> exec(kube::Object, ExecQuery) {
    co_return fail(Reason::NotImplemented, "commands in simulated pods are not implemented");
  }
  /// Bytes of a container's log from an offset; empty at its present end. NotFound when there is none yet.
  virtual Task<Result<std::string>> logs(kube::Object pod, LogQuery query) = 0;
};

}  // namespace slipway::server

// Through which logs (and later exec) reach a pod runtime.
#pragma once

#include <string>

#include "base/task.h"
#include "kube/object.h"

namespace slipway::server {

struct LogQuery {
  std::string container;  // empty: the only one, or BadRequest
  std::uint64_t offset = 0;
  std::size_t limit = std::size_t{1} << 20;
};

class PodBackend {
 public:
  virtual ~PodBackend() = default;
  /// Bytes of a container's log from an offset; empty at its present end. NotFound when there is none yet.
  virtual Task<Result<std::string>> logs(kube::Object pod, LogQuery query) = 0;
};

}  // namespace slipway::server

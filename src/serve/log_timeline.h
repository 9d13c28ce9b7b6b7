// Where the runs of a container begin in its log, and when its lines were written, as far as the runtime has noted it
// (PodLogMark, base/pod_record.h). Read anew as the log grows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/pod_record.h"
#include "base/time.h"
#include "server/pod_backend.h"

namespace slipway::serve {

class LogTimeline {
 public:
  /// Bytes of a log: from `begin` up to `end`, or on and on.
  struct Range {
    std::uint64_t begin = 0;
    std::optional<std::uint64_t> end{};
  };

  /// Adds what has been noted since the last call.
  Task<Result<void>> load(server::PodBackend* pods, kube::Object pod, std::string container);
  /// Of the newest run but `back`; empty at the log's begin when there is none. Without marks all of the log is run 0.
  Range run(std::size_t back) const;
  /// No line that begins before was written at `time` or later.
  std::uint64_t first_since(Time time) const;
  /// When the line that begins at `offset` was written; nullopt when that is not noted yet.
  std::optional<Time> time_at(std::uint64_t offset) const;

 private:
  std::vector<PodLogMark> marks_;  // bytes never shrink
  std::string rest_;               // of a line that was being written
  std::uint64_t offset_ = 0;
};

}  // namespace slipway::serve

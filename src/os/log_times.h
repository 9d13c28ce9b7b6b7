// When the logs of a pod grew: a mark (base/pod_record.h) for each growth that is seen, written beside the log. The containers
// write their logs themselves; the kernel tells that they have (inotify), so nothing stands between a container and its log,
// and a time is that of the look. Only POSIX and Linux calls: the pod supervisor uses it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/files.h"

namespace slipway::os {

class LogTimes {
 public:
  LogTimes();

  /// A run of a container begins; its log is made when it is not there. Without `times` nothing is noted.
  void begin_run(const std::string& log, const std::string& times, std::int64_t now_us);
  /// Looks at all logs and notes those that have grown.
  void note(std::int64_t now_us);
  /// Readable when some log has grown since note(); -1 when that cannot be told.
  int fd() const { return notify_.get(); }

 private:
  struct Entry {
    std::string log;
    Descriptor times;
    std::uint64_t bytes = 0;
  };
  void write(Entry& entry, bool begins_run, std::int64_t now_us) const;

  Descriptor notify_;
  std::vector<Entry> entries_;
};

}  // namespace slipway::os

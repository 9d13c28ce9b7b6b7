// Ends the process at a deadline whatever its threads do: a stop in good order waits for threads, and one of them may be in a
// call that nothing can cut short (the resolver of host names, a disk that hangs).
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.h"

namespace slipway::os {

class ExitTimer {
 public:
  ExitTimer() = default;
  ExitTimer(const ExitTimer&) = delete;
  ExitTimer& operator=(const ExitTimer&) = delete;
  /// Disarms it.
  ~ExitTimer();

  /// After that time the process writes `message` on standard error and ends with `code`, without destructors. Later calls
  /// change nothing.
  void arm(Duration after, int code, std::string message);

 private:
  std::mutex mutex_;
  std::condition_variable has_changed_;
  bool is_disarmed_ = false;
  std::thread thread_;
};

}  // namespace slipway::os

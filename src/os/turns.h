// How much CPU time the logic thread spends per turn. A turn is one handler of the loop: what runs between two looks at what
// else is ready. A long turn keeps every other request waiting, so the histogram of turns shows what stops the process.
//
// Asking for a thread's CPU time is a system call; asking for the time is not. A turn shorter than kShort on the wall is
// observed as that time, which its CPU time does not exceed. CPU time is asked for after long turns and, so that the base of
// the difference is fresh, whenever short turns have added up to kShort: a turn is never observed as more than kShort above
// what it took.
#pragma once

#include <chrono>

#include "os/telemetry.h"

namespace slipway::os {

class TurnMeter {
 public:
  static constexpr double kShort = 0.0005;  // seconds

  /// To be made by the thread that runs the loop, before the first turn.
  explicit TurnMeter(Histogram& turns);
  /// After each turn. Time in which the loop waits for something to do counts as a part of the wall time of the next turn, but
  /// not as CPU time.
  void end();

 private:
  using Instant = std::chrono::steady_clock::time_point;

  Histogram& turns_;
  Instant last_;
  double cpu_at_base_;     // of this thread, in seconds
  double since_base_ = 0;  // wall time of the short turns since then
};

}  // namespace slipway::os

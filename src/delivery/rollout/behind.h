// How long a rollout's status may be behind what is known, so that what changes often is written together.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"

namespace slipway::delivery::rollout {

/// How long the status may be behind in counts of pods, weights and states on the way, and in what asking gates said. A weight
/// is followed by pods that go when it has settled (3 s) and old connections have had their time (30 s): that is told together.
inline constexpr Duration kCountPause = std::chrono::seconds{45};
/// And in what holds it while servers answer, which most do sooner.
inline constexpr Duration kHoldPause = std::chrono::seconds{5};
inline constexpr Duration kAskingPause = std::chrono::minutes{5};

/// Since when, and in what. A shorter pause than before begins anew; but kCountPause after the first that was no longer than
/// that the status is due, whatever has begun since.
class Behind {
 public:
  void note(Steady now, Duration pause) {
    if (!since_ || pause < pause_) since_ = now;
    pause_ = pause;
    if (pause > kCountPause) {
      latest_.reset();  // what was due has come to be as it was written
    } else if (!latest_) {
      latest_ = now + kCountPause;
    }
  }
  void reset() { *this = {}; }

  explicit operator bool() const { return since_.has_value(); }
  /// When it is to be written; nullopt when nothing is.
  std::optional<Steady> due() const {
    if (!since_) return std::nullopt;
    return latest_ ? std::min(*since_ + pause_, *latest_) : *since_ + pause_;
  }

 private:
  std::optional<Steady> since_{};
  Duration pause_{};
  std::optional<Steady> latest_{};
};

}  // namespace slipway::delivery::rollout

// How long ago a time in an object was, on a machine whose wall clock is set now and then.
//
// Controllers write wall times into objects and later act on their age: deadlines, time-outs, pauses, times to live. When the
// wall clock was set in between, the difference of the two readings is no duration. A process knows by how much it was set,
// though: it compares the wall clock with the steady one whenever it asks for the time. WallSteps keeps that history; Now is
// the present together with it, a value that pure planners take.
//
// Example: a Job has startTime 10:00:00 and a deadline of 30 s. At 10:00:05 the clock is set to 11:00:05. At 11:00:15 the
// offset between the clocks has grown by an hour; under the new one the startTime would lie before the clock was set, so it
// was written under the old one: present(10:00:00) is 11:00:00, the Job is 15 s old, and its deadline 11:00:30.
//
// What is not known: steps before the process began. Their times are taken as they stand, as upstream's controllers do. And a
// clock set back passes the same times twice: once it has caught up with a time, that is taken for one of the second passage,
// so what was due may come late by the step, but never early.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/time.h"

namespace slipway {

/// The wall clock's reading between two steps.
struct WallEpoch {
  Steady from;
  Steady until;
  Duration offset;  // wall clock minus steady clock
};

/// The present, as a value. Made from a plain Time it knows of no steps.
class Now {
 public:
  Now(Time time) : time_(time), epoch_{.from = Steady::min(), .until = Steady{time.time_since_epoch()}, .offset = {}} {}
  /// `earlier` are the epochs before the current one, the oldest first.
  Now(Time time, WallEpoch current, std::vector<WallEpoch> earlier, std::uint64_t steps)
      : time_(time), epoch_(current), earlier_(std::move(earlier)), steps_(steps) {}

  operator Time() const { return time_; }
  Time time() const { return time_; }
  /// What the wall clock as it is set now would have shown at the moment when it showed `written`. Add durations to this.
  Time present(Time written) const;
  /// Changes whenever a step was noticed.
  std::uint64_t steps() const { return steps_; }

 private:
  Time time_;
  WallEpoch epoch_;
  std::vector<WallEpoch> earlier_;
  std::uint64_t steps_ = 0;
};

/// Notices steps of the wall clock. One for each controller that judges ages; costs nothing while the clock is not set.
class WallSteps {
 public:
  explicit WallSteps(Clock& clock);
  /// The present. A difference of more than a second since the last call counts as a step; less is the clock being slewed.
  Now now();

 private:
  Clock& clock_;
  WallEpoch current_;
  std::vector<WallEpoch> earlier_;  // the oldest first, a few at most
  std::uint64_t steps_ = 0;
};

}  // namespace slipway

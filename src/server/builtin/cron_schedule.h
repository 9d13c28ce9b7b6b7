// The text of a CronJob's schedule: five fields (minute, hour, day of month, month, day of week) or a macro such as @hourly, as
// github.com/robfig/cron's ParseStandard takes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace slipway::server {

/// What is wrong with a schedule, in upstream's words; nullopt when nothing is.
std::optional<std::string> schedule_fault(std::string_view schedule);

/// When a schedule comes due, in UTC.
class CronSchedule {
 public:
  /// REQUIRES: schedule_fault() finds nothing.
  explicit CronSchedule(std::string_view schedule);

  /// The first moment after `after`; nullopt when there is none within five years (30 February).
  std::optional<Time> next(Time after) const;

 private:
  bool is_due_on(std::chrono::sys_days day) const;

  std::optional<Duration> every_;       // "@every 20s"
  std::array<std::uint64_t, 5> due_{};  // per field, a bit for each number
  bool is_either_day_ = false;          // both kinds of day are restricted: either will do
};

}  // namespace slipway::server

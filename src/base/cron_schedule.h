// The text of a CronJob's schedule: five fields (minute, hour, day of month, month, day of week) or a macro such as @hourly, as
// github.com/robfig/cron's ParseStandard takes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/zone.h"

namespace slipway {

/// What is wrong with a schedule, in upstream's words; nullopt when nothing is.
std::optional<std::string> schedule_fault(std::string_view schedule);

/// When a schedule comes due: in every minute whose local time has the fields. So a time that clocks skip in spring does not
/// come due on that day, and one that they show twice in autumn comes due twice, as upstream has it. "30 2 * * *" in
/// Europe/Berlin is due on 28 March 2026 at 01:30 UTC, not at all on the 29th, and on the 30th at 00:30 UTC.
class CronSchedule {
 public:
  /// REQUIRES: schedule_fault() finds nothing.
  explicit CronSchedule(std::string_view schedule);

  /// The first moment after `after`; nullopt when there is none within five years (30 February).
  std::optional<Time> next(Time after, const Zone& zone = Zone()) const;

 private:
  bool is_due_on(std::chrono::sys_days day) const;
  bool is_due_at(int minute_of_day) const;
  std::optional<Time> next_on(std::chrono::sys_days day, Time after, const Zone& zone) const;

  std::optional<Duration> every_;       // "@every 20s"
  std::array<std::uint64_t, 5> due_{};  // per field, a bit for each number
  bool is_either_day_ = false;          // both kinds of day are restricted: either will do
};

}  // namespace slipway

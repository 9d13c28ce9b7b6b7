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

inline constexpr std::size_t kMaxScheduleBytes = 1024;

/// What is wrong with a schedule, in upstream's words; nullopt when nothing is.
std::optional<std::string> schedule_fault(std::string_view schedule);

/// When a schedule comes due: in every minute whose local time has the fields. So a time that clocks skip in spring does not
/// come due on that day, and one that they show twice in autumn comes due twice, as upstream has it. "30 2 * * *" in
/// Europe/Berlin is due on 28 March 2026 at 01:30 UTC, not at all on the 29th, and on the 30th at 00:30 UTC.
class CronSchedule {
 public:
  /// One in which schedule_fault() finds something never comes due.
  explicit CronSchedule(std::string_view schedule);

  /// The first moment after `after`; nullopt when there is none within five years (30 February).
  std::optional<Time> next(Time after, const Zone& zone = Zone()) const;

  struct Missed {
    std::optional<Time> last{};
    int count = 0;
  };
  /// The last moment after `after` and not after `until`, and how many there are; beyond `max_count` they are not counted. A
  /// year of minutes costs little more than `max_count` of them.
  Missed missed(Time after, Time until, int max_count, const Zone& zone = Zone()) const;

 private:
  bool is_due_on(std::chrono::sys_days day) const;
  bool is_due_at(int minute_of_day) const;
  std::optional<Time> next_on(std::chrono::sys_days day, Time after, const Zone& zone) const;

  std::optional<Duration> every_;       // "@every 20s"
  std::array<std::uint64_t, 5> due_{};  // per field, a bit for each number
  bool is_either_day_ = false;          // both kinds of day are restricted: either will do
};

}  // namespace slipway

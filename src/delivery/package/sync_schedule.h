// When a repository is read again as a whole: spec.sync.schedule, a cron line of five fields (minute, hour, day of the month,
// month, day of the week; lists, ranges, steps and @hourly, @daily, @weekly, @monthly), in UTC. As in cron, where both days are
// given either will do. Pure.
#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "base/time.h"

namespace slipway::delivery::package {

class SyncSchedule {
 public:
  /// BadRequest for what is no such line.
  static Result<SyncSchedule> parse(std::string_view text);
  /// The first moment after `after`, within five years.
  std::optional<Time> next(Time after) const;

 private:
  using Field = std::bitset<64>;
  bool has_day(std::chrono::year_month_day day) const;

  std::array<Field, 5> fields_{};
  bool has_any_day_ = true;  // the day of the month is '*'
  bool has_any_weekday_ = true;
};

}  // namespace slipway::delivery::package

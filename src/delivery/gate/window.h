// Windows of time: a recurrence rule of RFC 5545 says when they begin, in a time zone. Pure: the zone is a value.
//
// A rule is `FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=9;BYMINUTE=30`, with "RRULE:" before it and a line `DTSTART:20260105T093000` (local
// time) above it if wanted. Parts: FREQ (HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY), INTERVAL, BYDAY (`2MO`, `-1FR` in months),
// BYHOUR, BYMINUTE, BYMONTHDAY (from -31), BYMONTH, COUNT, UNTIL, WKST=MO. Without DTSTART intervals count from 1 January 1970,
// hour and minute are 0, and the day must be said.
// DIVERGES: BYSETPOS, BYYEARDAY, BYWEEKNO, BYSECOND, SECONDLY and MINUTELY are refused.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delivery/gate/gate.h"
#include "base/zone.h"

namespace slipway::delivery::gate {

class Recurrence {
 public:
  /// Invalid, naming the part.
  static Result<Recurrence> parse(std::string_view text);

  /// The starts within [from, to), ascending; at most 10,000.
  std::vector<Time> between(const Zone& zone, Time from, Time to) const;
  /// The first start after `after`, within ten years.
  std::optional<Time> next(const Zone& zone, Time after) const;

 private:
  enum class Frequency : std::uint8_t { Hourly, Daily, Weekly, Monthly, Yearly };
  struct Reader;

  bool is_day(std::chrono::sys_days day) const;
  bool is_weekday(std::chrono::year_month_day day) const;
  bool is_in_interval(std::chrono::sys_days day) const;
  /// Adds the starts of a local day.
  void add_day(const Zone& zone, std::chrono::sys_days day, std::vector<Time>& out) const;
  std::vector<Time> starts(const Zone& zone, Time from, Time to, std::size_t most) const;

  Frequency frequency_ = Frequency::Daily;
  std::int64_t interval_ = 1;
  Time start_{};  // local
  bool has_start_ = false;
  std::optional<std::int64_t> count_;
  std::optional<Time> until_;  // local unless is_until_utc_
  bool is_until_utc_ = false;
  std::vector<std::pair<int, std::chrono::weekday>> weekdays_;  // 0: each of the month
  std::set<int> month_days_;
  std::set<int> months_;
  std::set<int> hours_;
  std::set<int> minutes_;
};

/// How a window stands.
struct WindowView {
  Verdict verdict;                // Pass or Wait; Unknown for a rule that cannot be read
  std::optional<Time> changes{};  // when that changes, if within ten years
};
WindowView look(const WindowGate& gate, const Zone& zone, Time now);

}  // namespace slipway::delivery::gate

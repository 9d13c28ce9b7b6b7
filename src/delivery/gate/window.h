// Windows of time: a recurrence rule of RFC 5545 says when they begin, in a time zone. Pure: the zone is a value.
//
// A rule is `FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=9;BYMINUTE=30`, with "RRULE:" before it and a line `DTSTART:20260105T093000` (local
// time) above it if wanted. Parts: FREQ (HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY), INTERVAL, BYDAY (`2MO`, `-1FR` in months),
// BYHOUR, BYMINUTE, BYMONTHDAY (from -31), BYMONTH, COUNT, UNTIL, WKST=MO. Without DTSTART intervals count from 1 January 1970,
// hour and minute are 0, and the day must be said.
// COUNT counts in the order of local time, and UNTIL is compared before the time zone is looked at.
// DIVERGES: BYSETPOS, BYYEARDAY, BYWEEKNO, BYSECOND, SECONDLY and MINUTELY are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/zone.h"
#include "delivery/gate/gate.h"

namespace slipway::delivery::gate {

/// Candidate times (hours and minutes of days that the rule's day parts admit) that one look() tries at most. Days that they
/// exclude cost none.
inline constexpr int kMaxCandidates = 2'000;
/// Bytes of a rule's text.
inline constexpr std::size_t kMaxRuleBytes = 4'096;

class Recurrence {
 public:
  /// Invalid, naming the part.
  static Result<Recurrence> parse(std::string_view text);

  struct Found {
    std::optional<Time> start{};  // nothing: there is none in the range
    bool is_complete = true;      // false: the budget ended before that was known
  };
  /// The first start after `after`, within ten years. Each candidate that is tried takes one from `budget`.
  Found next(const Zone& zone, Time after, int& budget) const;
  /// The last start in (after, until].
  Found last(const Zone& zone, Time after, Time until, int& budget) const;

 private:
  enum class Frequency : std::uint8_t { Hourly, Daily, Weekly, Monthly, Yearly };
  struct Reader;

  /// The days of a month that BYMONTH, BYMONTHDAY and BYDAY admit: bit 0 is the 1st.
  std::uint32_t days_of(std::chrono::year_month month) const;
  bool is_in_interval(std::chrono::sys_days day) const;
  /// The first day that matches in [day, last], and the last one in [first, day].
  std::optional<std::chrono::sys_days> day_from(std::chrono::sys_days day, std::chrono::sys_days last) const;
  std::optional<std::chrono::sys_days> day_until(std::chrono::sys_days day, std::chrono::sys_days first) const;
  /// The local times of a matching day, ascending. An hour that BYHOUR excludes within FREQ=HOURLY takes one from `budget`.
  std::vector<Time> times_of(std::chrono::sys_days day, int& budget) const;
  std::int64_t count_of(std::chrono::sys_days day) const;
  /// The local time of the start that COUNT ends with; nothing when that is beyond the calendar.
  std::optional<Time> end_by_count() const;
  /// The last local time that can be a start; Time::max() without an end.
  Time last_local(const Zone& zone) const;

  Frequency frequency_ = Frequency::Daily;
  std::int64_t interval_ = 1;
  Time start_{};  // local
  bool has_start_ = false;
  std::optional<std::int64_t> count_;
  std::optional<Time> count_ends_;  // local
  std::optional<Time> until_;       // local unless is_until_utc_
  bool is_until_utc_ = false;
  std::set<std::pair<int, unsigned>> weekdays_;  // ordinal in the month (0: each), day (0: Sunday)
  std::set<int> month_days_;
  std::set<int> months_;
  std::set<int> hours_;
  std::set<int> minutes_;
};

/// How a window stands.
struct WindowView {
  Verdict verdict;                // Pass or Wait; Unknown for a rule that cannot be read, or takes more than kMaxCandidates
  std::optional<Time> changes{};  // when that changes, if within ten years
};
/// Takes less than a millisecond whatever the rule, so that callers need not keep the answer.
WindowView look(const WindowGate& gate, const Zone& zone, Time now);

}  // namespace slipway::delivery::gate

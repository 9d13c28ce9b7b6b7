// Points in time and durations, in microseconds, and their text forms. Time never comes from the system here: it is asked of
// Env::clock. There are two kinds of points that do not mix: `Time` is the wall clock's and stands in objects; `Steady` never
// jumps and is what waits, time-outs and leases are measured by. On the wire metav1.Time has whole seconds (RFC 3339, UTC),
// metav1.MicroTime six digits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway {

using Duration = std::chrono::microseconds;
/// Wall clock, UTC. May be set forwards and backwards while a process runs.
using Time = std::chrono::sys_time<Duration>;

/// The clock of `Steady`, as a tag: its moments come from Clock::steady().
struct SteadyClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteadyClock, Duration>;
  static constexpr bool is_steady = true;
};
/// A moment since some start that is the same for one machine until it is booted again. Not convertible to Time; means nothing
/// to another process.
using Steady = SteadyClock::time_point;

/// Go's longest time.Duration, 2^63 nanoseconds in whole seconds: some 292 years.
inline constexpr std::int64_t kMostSeconds = 9'223'372'036;
/// `count` seconds, held within +-kMostSeconds: for seconds that come from objects and query parameters. Added to any time of
/// an object the result neither overflows nor, from today, leaves the years that RFC 3339 can write.
constexpr Duration seconds_saturating(std::int64_t count) {
  return std::chrono::seconds{std::clamp(count, -kMostSeconds, kMostSeconds)};
}

/// "2026-01-02T03:04:05Z": metav1.Time, the fraction cut off.
std::string to_rfc3339(Time time);
/// "2026-01-02T03:04:05.000678Z": metav1.MicroTime.
std::string to_rfc3339_micro(Time time);
/// Accepts any RFC 3339 date-time (fraction and offset allowed). BadRequest otherwise.
Result<Time> parse_rfc3339(std::string_view text);

/// Go's time.ParseDuration: "1h15m30.5s", "300ms", "-1.5h", "0". BadRequest otherwise, with the text.
Result<Duration> parse_duration(std::string_view text);
/// Go's Duration.String: "1h15m30.5s", "0s".
std::string to_string(Duration duration);
/// As kubectl's AGE column (k8s.io/apimachinery/pkg/util/duration HumanDuration): "5s", "3m10s", "2d3h".
std::string human_duration(Duration duration);

}  // namespace slipway

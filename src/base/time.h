// Points in time and durations, in microseconds, and their text forms. Time never comes from the system here: it is asked of
// Env::clock. On the wire metav1.Time has whole seconds (RFC 3339, UTC), metav1.MicroTime six digits.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway {

using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;

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

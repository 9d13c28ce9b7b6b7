// Instants as texts: RFC 3339, and the layouts of Go's package time, in which the reference time Mon Jan 2 15:04:05 MST 2006
// spells the form. Nothing here reads a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::cue {

/// A moment as it was written: local fields and the distance from UTC.
struct Moment {
  std::int64_t year = 0;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t nanosecond = 0;
  int offset_minutes = 0;
};

/// Since 1970-01-01 UTC, and back, in UTC.
std::int64_t seconds_of(const Moment& moment);
Moment moment_of(std::int64_t seconds, std::int64_t nanoseconds);

/// As Go's time.UnmarshalJSON takes it.
std::optional<Moment> parse_rfc3339(std::string_view text);
std::string print_rfc3339(const Moment& moment);

std::optional<Moment> parse_layout(std::string_view layout, std::string_view text);
std::string print_layout(std::string_view layout, const Moment& moment);

}  // namespace slipway::cue

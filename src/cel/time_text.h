// Texts of timestamps, durations and bytes to the nanosecond, as CEL and the schema formats read and print them. (base/time.h
// has microseconds, which are too coarse here.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::cel {

/// Seconds since 1970-01-01T00:00:00Z and nanoseconds after them (0 to 999,999,999).
struct Instant {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
};

/// The first and last second that CEL knows: years 1 to 9999.
inline constexpr std::int64_t kFirstSecond = -62135596800;
inline constexpr std::int64_t kLastSecond = 253402300799;

/// RFC 3339 date-time, or a date alone.
std::optional<Instant> parse_timestamp(std::string_view text);
std::string print_timestamp(Instant time);
/// Go's time.ParseDuration, in nanoseconds.
std::optional<std::int64_t> parse_go_duration(std::string_view text);
/// CEL's text of a duration: seconds, "90.5s".
std::string print_duration(std::int64_t nanoseconds);
/// Offset from UTC in seconds of "UTC", "", "+05:45", "-08:00" or "02:00". Named zones are not known.
std::optional<std::int64_t> parse_zone(std::string_view text);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace slipway::cel

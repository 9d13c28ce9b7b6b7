#include "base/time.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

using namespace std::chrono_literals;

Time at(std::int64_t us) { return Time{Duration{us}}; }

TEST(TimeText, prints_whole_seconds_and_six_digits) {
  EXPECT_EQ(to_rfc3339(at(1767323045'678901)), "2026-01-02T03:04:05Z");
  EXPECT_EQ(to_rfc3339_micro(at(1767323045'000678)), "2026-01-02T03:04:05.000678Z");
  EXPECT_EQ(to_rfc3339(at(-1)), "1969-12-31T23:59:59Z");
}

TEST(TimeText, reads_what_it_prints) {
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05Z").value(), at(1767323045'000000));
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05.000678Z").value(), at(1767323045'000678));
}

TEST(TimeText, applies_offsets_and_cuts_long_fractions) {
  EXPECT_EQ(parse_rfc3339("2026-01-02T04:34:05.1234567+01:30").value(), at(1767323045'123456));
}

TEST(TimeText, refuses_what_is_no_time) {
  for (const auto* text : {"", "2026-01-02", "2026-02-30T00:00:00Z", "2026-01-02T24:00:00Z", "2026-01-02T03:04:05",
                           "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05Zx"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(DurationText, reads_go_durations) {
  EXPECT_EQ(parse_duration("1h15m30.5s").value(), 1h + 15min + 30500ms);
  EXPECT_EQ(parse_duration("300ms").value(), 300ms);
  EXPECT_EQ(parse_duration("-1.5h").value(), -90min);
  EXPECT_EQ(parse_duration("0").value(), 0s);
  EXPECT_EQ(parse_duration("12.345678s").value(), 12345678us);
}

TEST(DurationText, refuses_what_is_no_duration) {
  for (const auto* text : {"", "5", "s", "1x", "1m-3s", "--1s", "9999999999h", "1e3s"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(DurationText, prints_as_go_does) {
  EXPECT_EQ(to_string(Duration{0}), "0s");
  EXPECT_EQ(to_string(Duration{1h + 15min + 30500ms}), "1h15m30.5s");
  EXPECT_EQ(to_string(Duration{1h}), "1h0m0s");
  EXPECT_EQ(to_string(Duration{1500us}), "1.5ms");
  EXPECT_EQ(to_string(Duration{-2s}), "-2s");
}

TEST(SecondsSaturating, keeps_what_fits_and_clamps_the_rest) {
  EXPECT_EQ(seconds_saturating(30), 30s);
  EXPECT_EQ(seconds_saturating(-30), -30s);
  EXPECT_EQ(seconds_saturating(9'300'000'000'000), Duration{std::chrono::seconds{kMostSeconds}});
  EXPECT_EQ(seconds_saturating(INT64_MAX), Duration{std::chrono::seconds{kMostSeconds}});
  EXPECT_EQ(seconds_saturating(INT64_MIN), -Duration{std::chrono::seconds{kMostSeconds}});
}

TEST(SecondsSaturating, reaches_a_time_that_can_be_written_and_read_again) {
  const Time end = at(1767323045'000000) + seconds_saturating(INT64_MAX);
  EXPECT_EQ(to_rfc3339(end), "2318-04-14T02:51:21Z");
  EXPECT_EQ(parse_rfc3339(to_rfc3339(end)).value(), end);
}

TEST(HumanDuration, has_two_parts_at_most) {
  EXPECT_EQ(human_duration(0s), "0s");
  EXPECT_EQ(human_duration(119s), "119s");
  EXPECT_EQ(human_duration(190s), "3m10s");
  EXPECT_EQ(human_duration(10min + 5s), "10m");
  EXPECT_EQ(human_duration(3h + 5min), "3h5m");
  EXPECT_EQ(human_duration(49h), "2d1h");
  EXPECT_EQ(human_duration(-5s), "<invalid>");
}

}  // namespace
}  // namespace slipway

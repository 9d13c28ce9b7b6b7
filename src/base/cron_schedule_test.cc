#include "base/cron_schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

namespace slipway {
namespace {

struct Row {
  const char* schedule;
  const char* after;
  const char* next;  // empty: never
};

void expect_next(const Zone& zone, std::initializer_list<Row> rows) {
  for (const auto& [schedule, after, next] : rows) {
    ASSERT_FALSE(schedule_fault(schedule)) << schedule;
    const auto found = CronSchedule(schedule).next(parse_rfc3339(after).value(), zone);
    EXPECT_EQ(found ? to_rfc3339(*found) : "", next) << schedule << " after " << after;
  }
}

TEST(CronSchedule, comes_due_when_it_says) {
  expect_next(Zone(), {
                          {"* * * * *", "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"},
                          {"* * * * *", "2026-01-02T03:04:00Z", "2026-01-02T03:05:00Z"},
                          {"* * * * *", "2026-01-02T23:59:00Z", "2026-01-03T00:00:00Z"},
                          {"*/20 * * * *", "2026-01-02T03:40:00Z", "2026-01-02T04:00:00Z"},
                          {"5/20 9-10 * * *", "2026-01-02T10:45:00Z", "2026-01-03T09:05:00Z"},
                          {"0 0 * * mon,fri", "2026-01-02T00:00:00Z", "2026-01-05T00:00:00Z"},
                          {"0 0 13 * fri", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"},    // either day
                          {"0 0 */13 * fri", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"},  // a step restricts as well
                          {"0 0 29 feb *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
                          {"0 0 30 2 *", "2026-01-01T00:00:00Z", ""},
                          {"@weekly", "2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z"},
                          {"@hourly", "2026-12-31T23:30:00Z", "2027-01-01T00:00:00Z"},
                          {"@every 90s", "2026-01-02T03:04:05Z", "2026-01-02T03:05:35Z"},
                      });
}

TEST(CronSchedule, follows_the_clocks_of_a_zone_through_summer_time) {
  // Clocks in New York go from 2:00 to 3:00 on 8 March 2026, and from 2:00 to 1:00 on 1 November.
  const Zone new_york = Zone::from_rule("America/New_York", "EST5EDT,M3.2.0,M11.1.0").value();
  expect_next(new_york, {
                            {"30 4 * * *", "2026-01-02T00:00:00Z", "2026-01-02T09:30:00Z"},
                            {"0 22 * * *", "2026-01-02T02:59:59Z", "2026-01-02T03:00:00Z"},  // still the day before there
                            {"30 2 8 3 *", "2026-03-01T00:00:00Z", "2027-03-08T07:30:00Z"},  // skipped in 2026
                            {"0 * * * *", "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z"},
                            {"0 1 * * *", "2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z"},  // shown twice, due twice
                            {"0 1 * * *", "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z"},
                            {"0 1 * * *", "2026-11-01T06:00:00Z", "2026-11-02T06:00:00Z"},
                            {"30 1 * * *", "2026-11-01T05:45:00Z", "2026-11-01T06:30:00Z"},
                            {"30 2 1 11 *", "2026-11-01T04:00:00Z", "2026-11-01T07:30:00Z"},
                        });
  // Clocks that go back at midnight show the last hour of the day before again.
  const Zone midnight = Zone::from_rule("x", "XXX0YYY,M3.2.0,M11.1.0/0").value();
  expect_next(midnight, {
                            {"30 23 * * *", "2026-10-31T22:30:00Z", "2026-10-31T23:30:00Z"},
                            {"*/30 * * * *", "2026-10-31T22:59:00Z", "2026-10-31T23:00:00Z"},
                            {"0 0 1 11 *", "2026-10-31T22:30:00Z", "2026-11-01T00:00:00Z"},
                        });
}

TEST(CronSchedule, refuses_steps_and_texts_that_would_cost_more_than_they_say) {
  for (const char* schedule : {"*/-1 * * * *", "*/-1,*/-1 * * * *", "*/0 * * * *", "*/+1 * * * *", "-1 * * * *", "1-60 * * * *",
                               "99999999999999999999 * * * *"}) {
    EXPECT_TRUE(schedule_fault(schedule)) << schedule;
    EXPECT_FALSE(CronSchedule(schedule).next(Time())) << schedule;
  }
  std::string longest = "0";
  while (longest.size() + 2 <= kMaxScheduleBytes - 8) longest += ",0";
  EXPECT_FALSE(schedule_fault(longest + " * * * *"));
  EXPECT_EQ(schedule_fault(longest + ",0,0,0,0 * * * *"), "longer than 1024 bytes");
}

TEST(CronSchedule, a_step_beyond_its_field_leaves_the_first_number) {
  expect_next(Zone(), {
                          {"0 0 */2147483647 * *", "2026-01-02T00:00:00Z", "2026-02-01T00:00:00Z"},
                          {"5/99999999999999999999 * * * *", "2026-01-02T00:06:00Z", "2026-01-02T01:05:00Z"},
                          {"*/59 * * * *", "2026-01-02T00:00:00Z", "2026-01-02T00:59:00Z"},
                      });
}

TEST(CronSchedule, of_decades_only_the_last_one_missed_is_looked_for) {
  const Time until = parse_rfc3339("2026-12-13T14:15:16Z").value();
  const auto last_of = [&](const char* schedule, const char* after = "1970-01-01T00:00:00Z") {
    const auto missed = CronSchedule(schedule).missed(parse_rfc3339(after).value(), until, 100);
    return fmt::format("{} {}", missed.count, missed.last ? to_rfc3339(*missed.last) : "");
  };
  EXPECT_EQ(last_of("* * * * *"), "101 2026-12-13T14:15:00Z");
  EXPECT_EQ(last_of("* * * 1 *"), "101 2026-01-31T23:59:00Z");
  EXPECT_EQ(last_of("0 0 29 2 *"), "14 2024-02-29T00:00:00Z");
  EXPECT_EQ(last_of("@every 1s"), "101 2026-12-13T14:15:16Z");
  EXPECT_EQ(last_of("@every 7s", "2026-12-13T00:00:03Z"), "101 2026-12-13T14:15:13Z");
  EXPECT_EQ(last_of("0 * * * *", "2026-12-13T11:30:00Z"), "3 2026-12-13T14:00:00Z");
  EXPECT_EQ(last_of("0 0 30 2 *"), "0 ");
}

}  // namespace
}  // namespace slipway

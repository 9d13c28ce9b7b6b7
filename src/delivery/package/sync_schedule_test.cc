#include "delivery/package/sync_schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::delivery::package {
namespace {

std::string next(std::string_view line, std::string_view after) {
  const auto schedule = SyncSchedule::parse(line);
  if (!schedule) return schedule.error().message;
  const auto at = schedule->next(*parse_rfc3339(after));
  return at ? to_rfc3339(*at) : "never";
}

TEST(SyncSchedule, gives_the_first_moment_after) {
  EXPECT_EQ(next("@hourly", "2026-11-23T03:00:00Z"), "2026-11-23T04:00:00Z");
  EXPECT_EQ(next("*/15 * * * *", "2026-11-23T03:14:59Z"), "2026-11-23T03:15:00Z");
  EXPECT_EQ(next("30 6 * * 1-5", "2026-11-20T07:00:00Z"), "2026-11-23T06:30:00Z") << "Monday after Friday";
  EXPECT_EQ(next("0 0 29 2 *", "2026-11-23T00:00:00Z"), "2028-02-29T00:00:00Z");
  EXPECT_EQ(next("0 0 1 * 7", "2026-11-23T00:00:00Z"), "2026-11-29T00:00:00Z") << "either day will do; 7 is Sunday";
  EXPECT_EQ(next("0 0 31 2 *", "2026-11-23T00:00:00Z"), "never");
}

TEST(SyncSchedule, refuses_what_is_no_line) {
  EXPECT_EQ(next("* * * *", ""),
            "spec.sync.schedule \"* * * *\": five fields are needed: minute, hour, day, month, day of the week");
  for (const char* line : {"60 * * * *", "* * 0 * *", "5-1 * * * *", "*/0 * * * *", "a * * * *"}) {
    EXPECT_FALSE(SyncSchedule::parse(line)) << line;
  }
}

}  // namespace
}  // namespace slipway::delivery::package

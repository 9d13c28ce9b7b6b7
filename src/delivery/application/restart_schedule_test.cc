#include "delivery/application/restart_schedule.h"

#include <gtest/gtest.h>

namespace slipway::delivery::application {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(RestartSchedule, plans_by_annotation_and_state) {
  const Time now = *parse_rfc3339("2026-01-01T12:00:00Z");
  const RunEnd running{};
  const RunEnd ended{.is_finished = true, .at = now - seconds{60}};
  struct Row {
    const char* rule;
    std::string annotation;
    std::optional<Time> scheduled;
    RunEnd run;
    RestartPlan expected;
  };
  const Time later = now + hours{1};
  const Row rows[] = {
      {"without it nothing is planned", "", {}, ended, {}},
      {"nonsense plans nothing", "soon", {}, ended, {}},
      {"true is planned for the next second", "true", {}, ended, {.at = now + seconds{1}}},
      {"what has been taken over is removed",
       "true",
       now + seconds{1},
       ended,
       {.at = now + seconds{1}, .removes_annotation = true}},
      {"true comes before a later time", "true", later, ended, {.at = now + seconds{1}}},
      {"a time is planned", "2026-01-01T13:00:00Z", {}, ended, {.at = later}},
      {"another time replaces it", "2026-01-01T13:00:00Z", now + hours{2}, ended, {.at = later}},
      {"and is removed once it stands there", "2026-01-01T13:00:00Z", later, ended, {.at = later, .removes_annotation = true}},
      {"a planned time is waited for", "", later, ended, {.at = later}},
      {"a due one restarts", "", now, ended, {.restarts = true}},
      {"but nothing that is under way", "", now, running, {.at = now}},
      {"one that came due while it ran is dropped", "", now - seconds{90}, ended, {}},
      {"a duration counts from the end", "1h", {}, ended, {.at = now - seconds{60} + hours{1}}},
      {"again after each end", "1h", now - hours{1}, ended, {.at = now - seconds{60} + hours{1}}},
      {"and not while it runs", "1h", {}, running, {}},
      {"a duration that is over restarts", "30s", now - seconds{30}, ended, {.restarts = true}},
  };
  for (const Row& row : rows) EXPECT_EQ(plan_restart(row.annotation, row.scheduled, row.run, now), row.expected) << row.rule;
}

}  // namespace
}  // namespace slipway::delivery::application

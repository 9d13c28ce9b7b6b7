#include <array>

#include "cluster/cron_plan.h"
#include "cluster/world_fixture.h"
#include "server/builtin/cron_schedule.h"

namespace slipway::cluster {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(CronSchedule, comes_due_when_it_says) {
  struct Row {
    const char* schedule;
    const char* after;
    const char* next;  // empty: never
  };
  for (const auto& [schedule, after, next] : std::array{
           Row{"* * * * *", "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"},
           Row{"* * * * *", "2026-01-02T03:04:00Z", "2026-01-02T03:05:00Z"},
           Row{"*/20 * * * *", "2026-01-02T03:40:00Z", "2026-01-02T04:00:00Z"},
           Row{"5/20 9-10 * * *", "2026-01-02T10:45:00Z", "2026-01-03T09:05:00Z"},
           Row{"0 0 * * mon,fri", "2026-01-02T00:00:00Z", "2026-01-05T00:00:00Z"},
           Row{"0 0 13 * fri", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"},    // either day
           Row{"0 0 */13 * fri", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"},  // a step restricts as well
           Row{"0 0 29 feb *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
           Row{"0 0 30 2 *", "2026-01-01T00:00:00Z", ""},
           Row{"@weekly", "2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z"},
           Row{"@hourly", "2026-12-31T23:30:00Z", "2027-01-01T00:00:00Z"},
           Row{"@every 90s", "2026-01-02T03:04:05Z", "2026-01-02T03:05:35Z"},
       }) {
    ASSERT_FALSE(server::schedule_fault(schedule)) << schedule;
    const auto found = server::CronSchedule(schedule).next(parse_rfc3339(after).value());
    EXPECT_EQ(found ? to_rfc3339(*found) : "", next) << schedule << " after " << after;
  }
}

const kube::Resource kCrons{"batch", "v1", "cronjobs"};

class CronJobTest : public ClusterTest {
 protected:
  void SetUp() override { start(); }

  void make_cron(const std::string& spec, const std::string& run_time) {
    make(kCrons, fmt::format("apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: tick, namespace: default}}\nspec:\n  "
                             "schedule: '* * * * *'\n{}"
                             "  jobTemplate:\n    metadata: {{labels: {{from: tick}}}}\n    spec:\n      template:\n"
                             "        metadata: {{annotations: {{slipway.dev/run-time: {}}}}}\n"
                             "        spec: {{restartPolicy: Never, containers: [{{name: c, image: i}}]}}\n",
                             spec, run_time));
  }
  json::Value status() { return get(kCrons, "tick")["status"]; }
  std::vector<std::string> job_names() {
    std::vector<std::string> names;
    for (const json::Value& job : list(kJobs)) names.emplace_back(kube::name(job));
    return names;
  }
};

TEST_F(CronJobTest, makes_a_job_each_minute_named_by_it_and_keeps_three) {
  make_cron("", "1s");
  const auto first = std::chrono::floor<minutes>(env_.now().time_since_epoch()).count() + 1;
  advance(seconds{61});
  ASSERT_EQ(job_names(), std::vector{fmt::format("tick-{}", first)});
  const json::Value job = list(kJobs).front();
  EXPECT_EQ(kube::label(job, "from"), "tick");
  EXPECT_EQ(kube::controller_of(job)["name"].str(), "tick");
  EXPECT_EQ(kube::annotation(job, "batch.kubernetes.io/cronjob-scheduled-timestamp"), status()["lastScheduleTime"].str());
  advance(minutes{5} + seconds{10});
  EXPECT_EQ(list(kJobs).size(), 3U);
  EXPECT_TRUE(status().has("lastSuccessfulTime"));
}

TEST_F(CronJobTest, forbid_waits_for_the_running_job_and_then_runs_at_once) {
  make_cron("  concurrencyPolicy: Forbid\n", "90s");
  advance(seconds{125});
  ASSERT_EQ(list(kJobs).size(), 1U);
  EXPECT_EQ(status()["active"].size(), 1U);
  advance(seconds{35});
  EXPECT_EQ(list(kJobs).size(), 2U);
}

TEST_F(CronJobTest, replace_ends_the_running_job) {
  make_cron("  concurrencyPolicy: Replace\n", "1h");
  advance(seconds{61});
  const auto first = job_names();
  ASSERT_EQ(first.size(), 1U);
  advance(minutes{1});
  ASSERT_EQ(job_names().size(), 1U);
  EXPECT_NE(job_names(), first);
  EXPECT_EQ(status()["active"].item(0)["name"].str(), job_names().front());
}

TEST_F(CronJobTest, a_missed_time_is_made_up_for_within_the_deadline_alone) {
  make_cron("  suspend: true\n  startingDeadlineSeconds: 10\n", "1s");
  advance(minutes{3} + seconds{30});
  patch(kCrons, "tick", R"({"spec":{"suspend":false}})");
  advance(seconds{1});
  EXPECT_TRUE(list(kJobs).empty());
  patch(kCrons, "tick", R"({"spec":{"startingDeadlineSeconds":null}})");
  advance(seconds{1});
  EXPECT_EQ(list(kJobs).size(), 1U) << "one for all that were missed";
}

TEST_F(CronJobTest, does_not_run_in_a_time_zone_that_is_not_known) {
  make_cron("  timeZone: Europe/Paris\n", "1s");
  advance(minutes{3});
  EXPECT_TRUE(list(kJobs).empty());
  EXPECT_EQ(list(kEvents).front()["reason"].str(), "UnknownTimeZone");
}

}  // namespace
}  // namespace slipway::cluster

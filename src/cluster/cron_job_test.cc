#include "base/zone.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

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

TEST_F(CronJobTest, runs_by_the_clocks_of_its_time_zone) {
  ASSERT_TRUE(env_.files().make_folders("/usr/share/zoneinfo/Europe"));
  // A version 2 file of no changes, one type and the rule of Berlin.
  const std::string header = std::string("TZif2") + std::string(15, '\0');
  const auto counts = [](char types, char chars) {
    std::string out(24, '\0');
    out[19] = types;
    out[23] = chars;
    return out;
  };
  const std::string body = std::string(6, '\0') + std::string("CET\0", 4);
  ASSERT_TRUE(env_.files().write("/usr/share/zoneinfo/Europe/Berlin",
                                 header + counts(1, 4) + body + header + counts(1, 4) + body + "\nCET-1CEST,M3.5.0,M10.5.0/3\n",
                                 0644));
  const Time first = std::chrono::ceil<std::chrono::hours>(env_.now()) + std::chrono::hours{2};
  const auto hour_there = [&](Time time) {
    const Zone berlin = load_zone(env_.files(), "Europe/Berlin").value();
    return std::chrono::floor<std::chrono::hours>((time + berlin.offset_at(time)).time_since_epoch()).count() % 24;
  };
  make_cron(fmt::format("  timeZone: Europe/Berlin\n"), "1s");
  patch(kCrons, "tick", fmt::format(R"({{"spec":{{"schedule":"0 {} * * *"}}}})", hour_there(first)));
  advance(first - env_.now() - seconds{1});
  EXPECT_TRUE(list(kJobs).empty());
  advance(seconds{3});
  EXPECT_EQ(list(kJobs).size(), 1U);
  EXPECT_EQ(status()["lastScheduleTime"].str(), to_rfc3339(first));
}

TEST_F(CronJobTest, does_not_run_in_a_time_zone_that_is_not_known) {
  make_cron("  timeZone: Europe/Paris\n", "1s");
  advance(minutes{3});
  EXPECT_TRUE(list(kJobs).empty());
  EXPECT_EQ(list(kEvents).front()["reason"].str(), "UnknownTimeZone");
  EXPECT_EQ(
      list(kEvents).front()["message"].str(),
      "invalid timeZone: \"Europe/Paris\": there is no time zone Europe/Paris on this machine; install the package tzdata");
}

TEST_F(CronJobTest, forbid_holds_for_a_job_whose_creation_the_status_does_not_list) {
  make_cron("  concurrencyPolicy: Forbid\n", "5m");
  advance(seconds{61});
  ASSERT_EQ(list(kJobs).size(), 1U);
  stop();
  start();
  patch(kCrons, "tick", R"({"status":{"active":null}})", "status");
  advance(minutes{2});
  EXPECT_EQ(list(kJobs).size(), 1U);
  EXPECT_EQ(status()["active"].size(), 1U);
}

}  // namespace
}  // namespace slipway::cluster

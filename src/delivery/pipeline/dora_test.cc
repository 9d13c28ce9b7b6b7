#include "delivery/pipeline/dora.h"

#include <gtest/gtest.h>

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::days;
using std::chrono::hours;

const Time kFirstDay = *parse_rfc3339("2026-03-01T00:00:00Z");

class Dora : public testing::Test {
 protected:
  Dora() {
    input.pipeline = "podinfo";
    input.environment = "prod";
  }
  void tell(std::string what, int hour, std::string version, std::string environment = "prod") {
    input.entries.push_back({.at = kFirstDay + hours{hour},
                             .what = std::move(what),
                             .environment = std::move(environment),
                             .version = std::move(version)});
  }
  DoraFacts facts(int from_hour = 0, int to_hour = 24 * 30) const {
    return dora_facts(input, kFirstDay + hours{from_hour}, kFirstDay + hours{to_hour});
  }
  DoraKeys keys() const { return dora_keys({facts()}, days{30}); }

  DoraInput input;
};

TEST_F(Dora, a_deployment_is_the_first_observation_of_a_version_in_the_environment) {
  tell("observed", 1, "1.0.0");
  tell("promoted", 2, "1.1.0");
  tell("observed", 3, "1.1.0", "stage");
  tell("observed", 4, "1.1.0");
  tell("departed", 5, "1.1.0");
  tell("observed", 6, "1.1.0");
  EXPECT_EQ(facts().deployments.size(), 2U) << "ready again is no deployment";
  EXPECT_EQ(keys().per_day, 2.0 / 30);
}

TEST_F(Dora, lead_time_is_from_the_artifact_or_unknown) {
  input.releases = {{.pipeline = "podinfo", .version = "1.0.0", .artifact_created = kFirstDay},
                    {.pipeline = "podinfo", .version = "1.1.0"},
                    {.pipeline = "podinfo", .version = "1.3.0", .artifact_created = kFirstDay + hours{99}}};
  tell("released", 2, "1.2.0", "dev");
  input.entries.back().artifact_created = kFirstDay + hours{2};
  tell("observed", 3, "1.0.0");
  tell("observed", 4, "1.1.0");
  tell("observed", 12, "1.2.0");
  tell("observed", 13, "1.3.0");
  const DoraKeys found = keys();
  ASSERT_TRUE(found.lead_time);
  EXPECT_EQ(found.lead_time->p50, Duration(hours{3}));
  EXPECT_EQ(found.lead_time->p90, Duration(hours{10})) << "the release is gone, the log remembers";
  EXPECT_EQ(found.unknown_lead_times, 2) << "one is not known, one made after it ran";
}

TEST_F(Dora, failures_are_departures_and_failed_attempts_each_change_once) {
  tell("observed", 1, "1.0.0");
  tell("failed", 2, "1.1.0");
  tell("observed", 3, "1.0.0");
  tell("failed", 4, "1.1.0");
  tell("observed", 5, "1.0.0");
  tell("observed", 6, "1.2.0");
  tell("departed", 7, "1.2.0");
  const DoraKeys found = keys();
  EXPECT_EQ(found.deployments, 2);
  EXPECT_EQ(found.changes, 3);
  EXPECT_EQ(found.failures, 2);
  ASSERT_TRUE(found.failure_share);
  EXPECT_DOUBLE_EQ(*found.failure_share, 2.0 / 3);
  EXPECT_EQ(found.outages, 3);
  EXPECT_EQ(found.open_outages, 1);
  EXPECT_EQ(found.recovery->p50, Duration(hours{1}));
}

TEST_F(Dora, what_fails_during_an_outage_is_part_of_it) {
  tell("observed", 1, "1.1.0");
  tell("departed", 2, "1.1.0");
  tell("failed", 3, "1.2.0");
  tell("observed", 8, "1.0.0");
  const DoraFacts found = facts();
  ASSERT_EQ(found.outages.size(), 1U);
  EXPECT_EQ(found.outages[0].recovery, Duration(hours{6}));
}

TEST_F(Dora, the_range_counts_what_began_in_it_and_knows_what_was_before) {
  tell("observed", 1, "1.0.0");
  tell("observed", 30, "1.0.0");
  tell("observed", 31, "1.1.0");
  tell("departed", 32, "1.1.0");
  tell("observed", 60, "1.1.0");
  const DoraFacts found = facts(24, 48);
  ASSERT_EQ(found.deployments.size(), 1U);
  EXPECT_EQ(found.deployments[0].version, "1.1.0");
  ASSERT_EQ(found.outages.size(), 1U);
  EXPECT_EQ(found.outages[0].recovery, std::nullopt) << "not by the end of the range";
}

TEST_F(Dora, an_empty_log_has_no_shares) {
  const DoraKeys found = keys();
  EXPECT_EQ(found.deployments, 0);
  EXPECT_EQ(found.failure_share, std::nullopt);
  EXPECT_FALSE(found.lead_time);
  EXPECT_FALSE(found.recovery);
}

TEST(Spread, percentiles_are_of_nearest_rank) {
  std::vector<Duration> values;
  for (int i = 10; i >= 1; --i) values.push_back(hours{i});
  const auto found = spread(values);
  EXPECT_EQ(found->p50, Duration(hours{5}));
  EXPECT_EQ(found->p90, Duration(hours{9}));
  EXPECT_EQ(found->mean, Duration(std::chrono::minutes{330}));
  EXPECT_EQ(spread({hours{7}})->p90, Duration(hours{7}));
}

}  // namespace
}  // namespace slipway::delivery::pipeline

#include "cluster/event_expiry.h"

#include "cluster/world_fixture.h"
#include "control/events.h"

namespace slipway::cluster {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class EventExpiryTest : public ClusterTest {
 protected:
  void SetUp() override { start(); }
  json::Value config() {
    return make(kConfigMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}");
  }
  void record(const json::Value& about, const std::string& reason, bool is_series = false) {
    const control::EventText text{.reason = reason, .message = "it happened", .instance = "", .is_series = is_series};
    const auto recorded = env_.run(control::record_event(env_, *server_, about, text, "test"));
    EXPECT_TRUE(recorded) << recorded.error().message;
  }
  std::string reasons() {
    std::string all;
    for (const json::Value& event : list(kEvents)) all += event["reason"].str() + " ";
    return all;
  }
};

TEST_F(EventExpiryTest, forgets_events_an_hour_after_they_were_written) {
  const auto about = config();
  record(about, "First");
  advance(minutes{30});
  record(about, "Second");
  advance(minutes{29});
  EXPECT_EQ(list(kEvents).size(), 2U);
  advance(minutes{7});
  EXPECT_EQ(reasons(), "Second ");
  advance(minutes{40});
  EXPECT_EQ(reasons(), "");
  record(about, "Third");
  advance(minutes{66});
  EXPECT_EQ(reasons(), "") << "sweeps begin again with the next event";
}

TEST_F(EventExpiryTest, counts_a_series_and_keeps_it_while_it_goes_on) {
  const auto about = config();
  for (int i = 0; i < 8; ++i) {
    record(about, "Again", true);
    advance(minutes{20});
  }
  ASSERT_EQ(list(kEvents).size(), 1U);
  EXPECT_EQ(list(kEvents)[0]["count"].as_int(), 8);
  for (int i = 0; i < 30; ++i) record(about, "Again", true);
  EXPECT_EQ(list(kEvents)[0]["count"].as_int(), 9) << "at most one write a minute";
}

TEST_F(EventExpiryTest, leaves_an_event_that_is_no_series_as_it_is) {
  const auto about = config();
  record(about, "Once");
  advance(minutes{2});
  record(about, "Once");
  EXPECT_EQ(list(kEvents)[0]["count"].as_int(), 1);
}

}  // namespace
}  // namespace slipway::cluster

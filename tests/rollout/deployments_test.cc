// Rollouts over Deployments: batches, holds, failures, reverts, retargets.
#include <gtest/gtest.h>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

using Deployments = RolloutTest;

TEST_F(Deployments, ten_pods_in_five_batches) {
  deployment("web-v1", 10);
  deployment("web-v2", 0, {"web:2"});
  advance(seconds{10});
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  EXPECT_TRUE(until_state("rolloutSucceed")) << json::print_pretty(status());
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 10");
  EXPECT_EQ(status()["upgradedReadyReplicas"].as_int(), 10);
}

}  // namespace
}  // namespace slipway::rollout_test

// Rollouts over Deployments: batches, holds, failures, reverts, retargets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

class Deployments : public RolloutTest {
 public:
  /// web-v1 with ten ready pods, web-v2 with none.
  void two_versions(const Version& second = {"web:2"}) {
    deployment("web-v1", 10);
    deployment("web-v2", 0, second);
    advance(seconds{10});
    ASSERT_EQ(ready_pods(), 10);
  }
  /// Beside another version with four: six of web-v1.
  void two_versions_more() {
    deployment("web-v1", 6);
    deployment("web-v2", 0, {"web:2"});
    advance(seconds{10});
    ASSERT_EQ(ready_pods(), 10);
  }
  /// Sizes asked for stay between the two.
  void keep_within(std::int64_t least, std::int64_t most) {
    always_ = [this, least, most] {
      const std::int64_t sum = peek_size("web-v1") + peek_size("web-v2");
      return sum >= least && sum <= most ? "" : fmt::format("{} pods are asked for", sum);
    };
  }
};

TEST_F(Deployments, ten_pods_in_five_batches) {
  two_versions();
  keep_within(10, 12);
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  const Time began = env_->now();
  until_state("rolloutSucceed");
  EXPECT_LT(env_->now() - began, seconds{30});
  advance(seconds{5});
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 10");
  EXPECT_EQ(status()["upgradedReadyReplicas"].as_int(), 10);
  EXPECT_EQ(condition("RolloutSucceed"), "True rolloutSucceed");
  for (const char* name : {"web-v1", "web-v2"}) {
    EXPECT_TRUE(kube::controller_of(get(kDeployments, name)).is_null()) << name;
    EXPECT_EQ(kube::annotation(get(kDeployments, name), "rollout.slipway.dev/size"), "") << name;
  }
}

TEST_F(Deployments, pods_that_are_not_ready_count_as_upgraded) {
  two_versions(kBad);
  rollout("web-v2", {"web-v1"}, "{rolloutBatches: [{replicas: 3}, {}]}");
  until_batch(0, "batchInRolling");
  advance(minutes{6});
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 3");
  EXPECT_EQ(status()["upgradedReplicas"].as_int(), 3);
  EXPECT_EQ(status()["upgradedReadyReplicas"].as_int(), 0);
}

TEST_F(Deployments, a_finished_rollout_writes_nothing) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 2}");
  until_state("rolloutSucceed");
  advance(seconds{10});
  const Value before = get(kTraits, "r");
  patch(kDeployments, "web-v2", "{spec: {replicas: 7}}");
  advance(minutes{10});
  EXPECT_EQ(kube::revision(get(kTraits, "r")), kube::revision(before));
  EXPECT_EQ(size("web-v2"), 7);
}

TEST_F(Deployments, decrease_first_never_asks_for_more) {
  two_versions();
  keep_within(8, 10);
  rollout("web-v2", {"web-v1"}, "{numBatches: 5, rolloutStrategy: DecreaseFirst}");
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 10");
}

TEST_F(Deployments, the_partition_holds_and_grows) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{rolloutBatches: [{replicas: 2}, {replicas: 30%}, {replicas: 5}], batchPartition: 0}");
  until_batch(0, "batchReady");
  advance(minutes{5});
  EXPECT_EQ(sizes(), "web-v1 8, web-v2 2");
  EXPECT_EQ(condition("Holding"), "True Partition");
  const auto revision = kube::revision(get(kTraits, "r"));
  advance(minutes{60});
  EXPECT_EQ(kube::revision(get(kTraits, "r")), revision);
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: 1}}}");
  until_batch(1, "batchReady");
  EXPECT_EQ(sizes(), "web-v1 5, web-v2 5");
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 10");
}

TEST_F(Deployments, a_pause_writes_nothing_to_workloads) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  until_batch(1, "batchInRolling");
  ASSERT_TRUE(patch(kTraits, "r", "{spec: {rolloutPlan: {paused: true}}}"));
  advance(seconds{10});
  const std::string held = sizes();
  advance(minutes{60});
  EXPECT_EQ(sizes(), held);
  EXPECT_EQ(condition("Holding"), "True Paused");
  patch(kTraits, "r", "{spec: {rolloutPlan: {paused: false}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 10");
}

TEST_F(Deployments, a_bad_version_stops_and_stays_as_it_is) {
  two_versions(kBad);
  keep_within(10, 12);
  rollout("web-v2", {"web-v1"}, "{numBatches: 5, batchDeadlineSeconds: 60}");
  until_state("rolloutFailed");
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 2");
  EXPECT_NE(status()["failure"].as_string().find("took too long"), std::string::npos) << status()["failure"].as_string();
  EXPECT_TRUE(kube::controller_of(get(kDeployments, "web-v1")).is_null());
}

TEST_F(Deployments, a_bad_version_is_reverted) {
  two_versions(kBad);
  keep_within(10, 12);
  rollout("web-v2", {"web-v1"}, "{numBatches: 5, batchDeadlineSeconds: 60, onFailure: Revert}");
  until_state("rolloutFailed");
  advance(seconds{5});
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 0");
  EXPECT_EQ(ready_pods(), 10);
  EXPECT_EQ(condition("RolloutReverting"), "False Reverted");
}

TEST_F(Deployments, deleting_it_reverts_where_that_is_asked_for) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5, revertOnDelete: true}");
  until_batch(2, "batchInRolling");
  remove(kTraits, "r");
  EXPECT_TRUE(until([&] { return peek("standard.oam.dev/v1alpha1", "RolloutTrait", "r").is_null(); }));
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 0");
  EXPECT_TRUE(kube::controller_of(get(kDeployments, "web-v1")).is_null());
}

TEST_F(Deployments, deleting_it_leaves_sizes_otherwise) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  until_batch(2, "batchInRolling");
  remove(kTraits, "r");
  EXPECT_TRUE(until([&] { return peek("standard.oam.dev/v1alpha1", "RolloutTrait", "r").is_null(); }));
  EXPECT_EQ(sizes(), "web-v1 6, web-v2 6");
  advance(minutes{1});
  EXPECT_EQ(ready_pods(), 12);
}

TEST_F(Deployments, deleting_a_failed_one_reverts_what_it_left) {
  two_versions(kBad);
  rollout("web-v2", {"web-v1"}, "{numBatches: 5, batchDeadlineSeconds: 60, revertOnDelete: true}");
  until_state("rolloutFailed");
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 2");
  remove(kTraits, "r");
  EXPECT_TRUE(until([&] { return peek("standard.oam.dev/v1alpha1", "RolloutTrait", "r").is_null(); }));
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 0");
}

TEST_F(Deployments, another_target_takes_over_in_the_middle) {
  two_versions();
  deployment("web-v3", 0, {"web:3"});
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  until_batch(2, "batchInRolling");
  rollout("web-v3", {"web-v2"}, "{numBatches: 5}");
  always_ = [this] {
    const std::int64_t sum = peek_size("web-v1") + peek_size("web-v2") + peek_size("web-v3");
    return sum >= 10 && sum <= 12 ? "" : fmt::format("{} pods are asked for", sum);
  };
  until([&] { return peek_status()["attempt"].as_int() == 2; });
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 0, web-v3 10");
  EXPECT_EQ(status()["lastTargetRevision"].as_string(), "Deployment/web-v3");
  ASSERT_EQ(status()["attempts"].size(), 2U);
  const Value abandoned = status()["attempts"].item(0);
  EXPECT_EQ(abandoned["outcome"].as_string(), "rolloutAbandoning");
  EXPECT_EQ(abandoned["text"].as_string(), "Deployment/web-v3 is rolled out in its place");
  EXPECT_EQ(abandoned["ended"], status()["attempts"].item(1)["began"]);
}

TEST_F(Deployments, a_resize_by_somebody_else_moves_the_whole) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  until_batch(2, "batchInRolling");
  const std::int64_t now = size("web-v1");
  patch(kDeployments, "web-v1", fmt::format("{{spec: {{replicas: {}}}}}", now + 4), "autoscaler");
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 14");
}

TEST_F(Deployments, a_given_size_is_put_back_once_and_then_contested) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5, targetSize: 10, batchPartition: 2}");
  until_batch(2, "batchReady");
  const std::string before = sizes();
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: 3}}}");
  until_batch(3, "batchInRolling");
  patch(kDeployments, "web-v1", "{spec: {replicas: 20}}", "autoscaler");
  until_batch(3, "batchReady");
  EXPECT_EQ(size("web-v1") + size("web-v2"), 10);
}

TEST_F(Deployments, a_first_deploy_and_a_scale_go_by_the_same_batches) {
  deployment("web-v1", 0);
  advance(seconds{5});
  rollout("web-v1", {}, "{targetSize: 6, rolloutBatches: [{replicas: 2}, {replicas: 4}], batchPartition: 0}");
  until_batch(0, "batchReady");
  EXPECT_EQ(sizes(), "web-v1 2");
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: 1}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 6");
  patch(kTraits, "r", "{spec: {rolloutPlan: {targetSize: 3, batchPartition: null, numBatches: 3, rolloutBatches: null}}}");
  until([&] { return peek_status()["attempt"].as_int() == 2; });
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 3");
}

TEST_F(Deployments, several_sources_are_drained_oldest_first) {
  deployment("web-v0", 4);
  two_versions_more();
  rollout("web-v2", {"web-v0", "web-v1"}, "{rolloutBatches: [{replicas: 5}, {replicas: 5}], batchPartition: 0}");
  until_batch(0, "batchReady");
  EXPECT_EQ(sizes(), "web-v0 0, web-v1 5, web-v2 5");
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v0 0, web-v1 0, web-v2 10");
}

/// One for each workload that changes, and two of its own status for each batch, are what the design allows.
TEST_F(Deployments, a_batch_costs_few_writes) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5, batchPartition: 0}");
  until_batch(0, "batchReady");
  std::int64_t statuses = 0, workloads = 0;
  std::map<std::string, Value> seen;
  always_ = [&]() -> std::string {
    const Value now = peek("standard.oam.dev/v1alpha1", "RolloutTrait", "r");
    if (seen["r"]["status"] != now["status"]) ++statuses;
    seen["r"] = now;
    for (const char* name : {"web-v1", "web-v2"}) {
      const Value one = peek("apps/v1", "Deployment", name);
      if (kube::generation(one) != kube::generation(seen[name])) ++workloads;
      seen[name] = one;
    }
    return "";
  };
  always_();
  statuses = workloads = 0;
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: 3}}}");
  until_batch(3, "batchReady");
  fmt::print("writes in three batches: {} of the status, {} of workloads\n", statuses, workloads);
  EXPECT_EQ(workloads, 6);
  EXPECT_LE(statuses, 7) << "two for each, and one for the changed spec";
}

TEST_F(Deployments, goes_on_after_a_restart_anywhere) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  for (std::int64_t batch = 0; batch < 4; ++batch) {
    until_batch(batch, "batchInRolling");
    restart();
  }
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 10");
}

TEST_F(Deployments, people_abort_retry_and_revert) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  until_batch(2, "batchInRolling");
  patch(kTraits, "r", "{metadata: {annotations: {rollout.slipway.dev/abort: one}}}");
  until_state("rolloutFailed");
  EXPECT_EQ(status()["heeded"]["abort"].as_string(), "one");
  const std::int64_t kept = size("web-v2");
  EXPECT_GE(kept, 4);
  patch(kTraits, "r", "{metadata: {annotations: {rollout.slipway.dev/retry: two}}}");
  until([&] { return peek_status()["attempt"].as_int() == 2; });
  until_batch(3, "batchInRolling");
  patch(kTraits, "r", "{metadata: {annotations: {rollout.slipway.dev/revert: three}}}");
  until_state("rolloutFailed");
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 0") << "the attempt before it, which failed, is undone too";
}

TEST_F(Deployments, a_workload_of_another_owner_is_left_alone) {
  two_versions();
  patch(kDeployments, "web-v1",
        "{metadata: {ownerReferences: [{apiVersion: x/v1, kind: Thing, name: other, uid: u-1, controller: true}]}}");
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  advance(minutes{2});
  EXPECT_EQ(sizes(), "web-v1 10, web-v2 0");
  EXPECT_EQ(condition("Holding"), "True Waits");
  patch(kDeployments, "web-v1", "{metadata: {ownerReferences: null}}");
  until_state("rolloutSucceed");
}

TEST_F(Deployments, a_pod_that_is_named_and_not_there_holds_its_batch) {
  deployment("web-v1", 4);
  deployment("web-v2", 0, {"web:2"});
  advance(seconds{10});
  const std::string pod(kube::name(list(kube::kPods).at(2)));
  rollout("web-v2", {"web-v1"}, fmt::format("{{rolloutBatches: [{{podList: [{}]}}, {{podList: [nosuchpod]}}, {{}}]}}", pod));
  until_batch(1, "batchInitializing");
  advance(minutes{2});
  EXPECT_EQ(sizes(), "web-v1 3, web-v2 1");
  const Value wait = status()["waits"].item(0);
  EXPECT_EQ(wait["on"].as_string(), "podList");
  EXPECT_EQ(wait["text"].as_string(), "batch 1 names pod nosuchpod, and there is no old pod of that name");
  EXPECT_EQ(condition("Holding"), "True Waits");
}

}  // namespace
}  // namespace slipway::rollout_test

// Promises of the rollout design (seed 001) that no other test shows; promises.tsv lists them all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../rollout/rollout_fixture.h"
#include "go_types.h"
#include "kube/crd_schema.h"

namespace slipway::rollout_test {
namespace {

const kube::Resource kCloneSets{"apps.kruise.io", "v1alpha1", "clonesets"};

class Seed001 : public RolloutTest {
 public:
  void two_versions(std::int64_t replicas = 4, const Version& second = {"web:2"}) {
    deployment("web-v1", replicas);
    deployment("web-v2", 0, second);
    advance(seconds{10});
  }
  void clone_set(std::string_view image, std::string_view annotations = "") {
    apply(
        fmt::format("{{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {{name: db}}, spec: {{replicas: 4, "
                    "updateStrategy: {{paused: true}}, selector: {{matchLabels: {{app: db}}}}, template: {{metadata: {{labels: "
                    "{{app: db}}, annotations: {{{}}}}}, spec: {{containers: [{{name: main, image: '{}'}}]}}}}}}}}",
                    annotations, image));
    advance(seconds{30});
  }
  void roll_clone_set(std::string_view plan) {
    apply(
        fmt::format("{{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {{name: r}}, spec: {{targetRef: "
                    "{{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: db}}, rolloutPlan: {}}}}}",
                    plan));
  }
  Value strategy() { return get(kCloneSets, "db")["spec"]["updateStrategy"]; }
};

TEST_F(Seed001, the_types_as_printed_are_those_of_the_crds) {
  const auto go = seeds_test::read_go("seed001/types.go");
  const Value spec = seeds_test::crd_schema("rollouttraits.standard.oam.dev.yaml")["properties"]["spec"];
  EXPECT_EQ(seeds_test::differences(go, "RolloutTraitSpec", spec, "spec"), std::vector<std::string>{});
  for (const std::string& name : seeds_test::required_of(go, "RolloutTraitSpec")) {
    EXPECT_TRUE(std::ranges::any_of(spec["required"].items(), [&](const Value& one) { return one == Value(name); })) << name;
  }
}

TEST_F(Seed001, the_three_kinds_have_one_plan_and_one_status) {
  const auto schema = [](const char* file) { return seeds_test::crd_schema(file)["properties"]; };
  const Value trait = schema("rollouttraits.standard.oam.dev.yaml");
  ASSERT_FALSE(trait["spec"]["properties"]["rolloutPlan"].is_null());
  for (const char* file : {"rollouts.standard.oam.dev.yaml", "approllouts.core.oam.dev.yaml"}) {
    const Value other = schema(file);
    EXPECT_EQ(other["spec"]["properties"]["rolloutPlan"], trait["spec"]["properties"]["rolloutPlan"]) << file;
    EXPECT_EQ(other["status"], trait["status"]) << file;
  }
}

TEST_F(Seed001, without_a_partition_all_batches_are_rolled_out) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{numBatches: 4}");
  until_state("rolloutSucceed");
  EXPECT_EQ(status()["currentBatch"].as_int(), 3);
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 4");
}

TEST_F(Seed001, both_ways_to_say_the_batches_must_agree) {
  two_versions();
  const auto plan = [&](int batches) {
    const auto body = json::parse_yaml(fmt::format(
        "{{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {{name: r, namespace: default}}, spec: "
        "{{targetRef: {{apiVersion: apps/v1, kind: Deployment, name: web-v2}}, sourceRef: [{{apiVersion: apps/v1, kind: "
        "Deployment, name: web-v1}}], rolloutPlan: {{numBatches: {}, rolloutBatches: [{{replicas: 1}}, {{replicas: 3}}]}}}}}}",
        batches));
    return env_->run(client::create(api_->server(), kTraits, *body, "tester"));
  };
  const auto refused = plan(3);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.contains("spec.rolloutPlan.numBatches")) << refused.error().message;
  ASSERT_TRUE(plan(2));
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 4");
}

/// Each state that the seed prints for a rollout that succeeds is seen, in that order; what is asked meanwhile makes it stay
/// there.
TEST_F(Seed001, the_states_as_printed_are_gone_through_in_their_order) {
  deployment("web-v1", 4);
  advance(seconds{10});
  web_.replies = {{503}, {200}, {503}, {200}, {503}, {200}, {503}, {200}, {503}, {200}, {503}, {200}};
  std::vector<std::string> seen;
  always_ = [&]() -> std::string {
    const Value now = peek_status();
    for (const char* field : {"rollingState", "batchRollingState"}) {
      const std::string state = now[field].str();
      if (field == std::string_view("batchRollingState") && now["rollingState"].as_string() != "rollingInBatches") continue;
      if (!state.empty() && std::ranges::find(seen, state) == seen.end()) seen.push_back(state);
    }
    return "";
  };
  rollout("web-v2", {"web-v1"},
          "{rolloutBatches: [{replicas: 2, gates: [{name: b, at: before, webhook: {url: 'http://hooks/before'}}, {name: c, at: "
          "after, webhook: {url: 'http://hooks/after'}}]}, {replicas: 2}], gates: [{name: a, at: initialize, webhook: {url: "
          "'http://hooks/first'}}, {name: d, at: finalize, webhook: {url: 'http://hooks/last'}}], batchPartition: 0}");
  until([&] { return !status().is_null(); }, seconds{10});
  deployment("web-v2", 0, {"web:2"});
  until_batch(0, "batchReady");
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(seen, (std::vector<std::string>{"locatingTargetApp", "verifyingSpec", "initializing", "rollingInBatches",
                                            "batchInitializing", "batchInRolling", "batchVerifying", "batchFinalizing",
                                            "batchReady", "finalising", "rolloutSucceed"}));
  const auto go = seeds_test::read_go("seed001/types.go");
  for (const auto& [name, state] : go.constants) {
    const bool is_of_failures =
        state == "rolloutFailing" || state == "rolloutFailed" || state == "rolloutAbandoned" || state == "batchVerifyFailed";
    EXPECT_EQ(std::ranges::find(seen, state) == seen.end(), is_of_failures) << name;
  }
}

TEST_F(Seed001, status_counts_upgraded_and_ready_replicas) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{rolloutBatches: [{replicas: 1}, {replicas: 3}], batchPartition: 0}");
  until_batch(0, "batchReady");
  EXPECT_EQ(status()["upgradedReplicas"].as_int(), 1);
  EXPECT_EQ(status()["upgradedReadyReplicas"].as_int(), 1);
  deployment("web-v2", 1, kBad);
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_batch(1, "batchInRolling");
  advance(seconds{20});
  EXPECT_EQ(status()["upgradedReplicas"].as_int(), 4);
  EXPECT_EQ(status()["upgradedReadyReplicas"].as_int(), 0) << json::print_pretty(status());
}

TEST_F(Seed001, a_deployment_that_its_user_paused_is_rolled_out) {
  deployment("web-v1", 4);
  apply(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web-v2}, spec: {paused: true, replicas: 0, selector: "
      "{matchLabels: {app: web, version: web-v2}}, template: {metadata: {labels: {app: web, version: web-v2}}, spec: "
      "{containers: [{name: main, image: 'web:2'}]}}}}");
  advance(seconds{10});
  rollout("web-v2", {"web-v1"}, "{numBatches: 2}");
  until_state("rolloutSucceed");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 4");
  EXPECT_EQ(ready_pods(), 4);
}

TEST_F(Seed001, of_a_clone_set_nothing_but_the_partition_and_the_pause_is_written) {
  clone_set("db:1");
  clone_set("db:2");
  const Value before = get(kCloneSets, "db")["spec"];
  always_ = [&]() -> std::string {
    const Value now = peek("apps.kruise.io/v1alpha1", "CloneSet", "db")["spec"];
    const auto others = [](const Value& spec) {
      return spec.without_path({"updateStrategy", "partition"}).without_path({"updateStrategy", "paused"});
    };
    return others(now) == others(before) ? "" : json::print(now);
  };
  roll_clone_set("{numBatches: 4}");
  until_state("rolloutSucceed");
}

TEST_F(Seed001, the_partition_of_a_clone_set_is_zero_at_the_end) {
  clone_set("db:1");
  clone_set("db:2");
  roll_clone_set("{numBatches: 2, batchPartition: 0}");
  until_batch(0, "batchReady");
  EXPECT_EQ(json::print(strategy()["partition"]), "2");
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(json::print(strategy()["partition"]), "0");
}

TEST_F(Seed001, a_failed_rollout_leaves_the_partition_of_a_clone_set) {
  clone_set("db:1");
  clone_set("db:2", "slipway.dev/ready-after: never");
  roll_clone_set("{numBatches: 4, batchDeadlineSeconds: 30}");
  until_state("rolloutFailed");
  EXPECT_EQ(json::print(strategy()["partition"]), "3");
  advance(minutes{5});
  EXPECT_EQ(json::print(strategy()["partition"]), "3");
}

}  // namespace
}  // namespace slipway::rollout_test

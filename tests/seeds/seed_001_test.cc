// Promises of the rollout design (seed 001) that no other test shows; promises.tsv lists them all.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

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
  /// States of a rollout of two batches in the order in which its status had them first.
  std::vector<std::string> states_of(const std::string& strategy) {
    deployment("web-v1", 4);
    patch(kDeployments, "web-v1",
          "{metadata: {ownerReferences: [{apiVersion: x/v1, kind: Thing, name: other, uid: u-1, controller: true}]}}");
    advance(seconds{10});
    web_.replies = {{503}, {200}, {503}, {200}, {503}, {200}, {503}, {200}};
    std::vector<std::string> seen;
    always_ = [&]() -> std::string {
      const Value now = peek_status();
      const bool is_in_batch = now["rollingState"].as_string() == "rollingInBatches";
      for (const char* field : {"rollingState", "batchRollingState"}) {
        const std::string state = now[field].str();
        if (state.empty() || (field == std::string_view("batchRollingState") && !is_in_batch)) continue;
        if (std::ranges::find(seen, state) == seen.end()) seen.push_back(state);
      }
      return "";
    };
    const auto hook = [](const char* name, const char* at) {
      return fmt::format("{{name: {0}, at: {1}, webhook: {{url: 'http://hooks/{0}'}}}}", name, at);
    };
    rollout("web-v2", {"web-v1"},
            fmt::format("{{rolloutStrategy: {}, rolloutBatches: [{{replicas: 2, gates: [{}, {}]}}, {{replicas: 2}}], gates: "
                        "[{}, {}], batchPartition: 0}}",
                        strategy, hook("b", "before"), hook("c", "after"), hook("a", "initialize"), hook("d", "finalize")));
    until([&] { return peek_status()["rollingState"].as_string() == "locatingTargetApp"; }, minutes{1});
    deployment("web-v2", 0, {"web:2"});
    until([&] { return peek_status()["rollingState"].as_string() == "verifyingSpec"; }, minutes{1});
    patch(kDeployments, "web-v1", "{metadata: {ownerReferences: null}}");
    until_batch(0, "batchReady");
    patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
    until_state("rolloutSucceed");
    always_ = {};
    return seen;
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

const char* const kStates[] = {"locatingTargetApp", "verifyingSpec",  "initializing",   "rollingInBatches",
                               "batchInitializing", "batchInRolling", "batchVerifying", "batchFinalizing",
                               "batchReady",        "finalising",     "rolloutSucceed"};

/// States that begin and end between two writes of the status; the table of moves has them (docs/rollout.md, States).
const std::set<std::string> kWithinOneWrite{"batchVerifying", "batchFinalizing"};

/// A status is recorded where a rollout waits. This one waits in each of its states: for its target, for a source that another
/// object owns, for each gate once, for pods, for the partition. What a strategy waits for in a batch differs.
TEST_F(Seed001, the_states_as_printed_are_gone_through_in_their_order) {
  std::set<std::string> all;
  for (const char* strategy : {"IncreaseFirst", "DecreaseFirst"}) {
    SCOPED_TRACE(strategy);
    const std::vector<std::string> seen = states_of(strategy);
    std::size_t at = 0;
    for (const std::string& state : seen) {
      while (at < std::size(kStates) && kStates[at] != state) ++at;
      EXPECT_LT(at, std::size(kStates)) << state << " comes late: " << fmt::format("{}", fmt::join(seen, ", "));
    }
    all.insert(seen.begin(), seen.end());
    remove(kTraits, "r");
    for (const char* name : {"web-v1", "web-v2"}) remove(kDeployments, name);
    advance(minutes{1});
  }
  all.insert(kWithinOneWrite.begin(), kWithinOneWrite.end());
  EXPECT_EQ(all, std::set<std::string>(std::begin(kStates), std::end(kStates)));
  const std::set<std::string> of_failures{"rolloutFailing", "rolloutFailed", "rolloutAbandoned", "batchVerifyFailed"};
  const auto go = seeds_test::read_go("seed001/types.go");
  for (const auto& [name, state] : go.constants) EXPECT_NE(all.contains(state), of_failures.contains(state)) << name;
}

TEST_F(Seed001, status_counts_upgraded_and_ready_replicas) {
  two_versions();
  rollout("web-v2", {"web-v1"}, "{rolloutBatches: [{replicas: 1}, {replicas: 3}], batchPartition: 0}");
  until_batch(0, "batchReady");
  EXPECT_EQ(status()["upgradedReplicas"].as_int(), 1);
  EXPECT_EQ(status()["upgradedReadyReplicas"].as_int(), 1);
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(status()["upgradedReplicas"].as_int(), 4);
  EXPECT_EQ(status()["upgradedReadyReplicas"].as_int(), 4);
}

TEST_F(Seed001, status_does_not_count_pods_that_are_not_ready) {
  two_versions(4, kBad);
  rollout("web-v2", {"web-v1"}, "{rolloutBatches: [{replicas: 1}, {replicas: 3}]}");
  until_batch(0, "batchInRolling");
  advance(minutes{1});  // counts may be 45 s late
  EXPECT_EQ(size("web-v2"), 1);
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

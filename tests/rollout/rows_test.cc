// Kinds of users' own: a ConfigMap describes one, in whatever order it and the rollout come.
#include <gtest/gtest.h>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

const kube::Resource kEvents{"", "v1", "events"};

class Rows : public RolloutTest {
 public:
  /// A ReplicaSet stands for a kind that has no row here.
  void begin(const std::string& plan = "{numBatches: 1, targetSize: 4}") {
    apply("{apiVersion: v1, kind: Namespace, metadata: {name: vela-system}}");
    apply(
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: set}, spec: {replicas: 0, selector: {matchLabels: {app: "
        "set}}, "
        "template: {metadata: {labels: {app: set}, annotations: {slipway.dev/ready-after: 2s}}, spec: {containers: [{name: "
        "main, image: 'set:1'}]}}}}");
    apply(
        "{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {name: r}, spec: {targetRef: {apiVersion: "
        "apps/v1, "
        "kind: ReplicaSet, name: set}, rolloutPlan: " +
        plan + "}}");
    advance(seconds{30});
  }
  void describe_kind(const std::string& row) {
    apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: sets, namespace: vela-system, labels: "
        "{rollout.slipway.dev/workload-row: 'true'}}, data: "
        "{row: '" +
        row + "'}}");
  }
  /// A ConfigMap with the label and another key.
  void describe_nothing() {
    apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: sets, namespace: vela-system, labels: "
        "{rollout.slipway.dev/workload-row: 'true'}}, data: {rows: 'kind: ReplicaSet'}}");
  }
  std::string waits() { return status()["waits"].item(0)["text"].str(); }
  std::string events() {
    std::string text;
    for (const Value& event : list_in("vela-system", kEvents)) {
      if (event["involvedObject"]["kind"].as_string() == "ConfigMap") {
        text += event["reason"].str() + ": " + event["message"].str() + "\n";
      }
    }
    return text;
  }
};

TEST_F(Rows, that_come_late_wake_the_rollouts_that_wait_for_them) {
  begin();
  EXPECT_EQ(waits(),
            "unsupported workload kind ReplicaSet; describe it in a ConfigMap of namespace vela-system labelled "
            "rollout.slipway.dev/workload-row: \"true\"");
  describe_kind("{apiVersion: apps/v1, kind: ReplicaSet}");
  EXPECT_TRUE(until_state("rolloutSucceed", minutes{1})) << json::print(status());
  EXPECT_EQ(get(kube::kReplicaSets, "set")["spec"]["replicas"].as_int(), 4);
}

/// Its status comes after its pods, and wakes the rollout like theirs.
TEST_F(Rows, of_replica_sets_are_rolled_out_batch_by_batch) {
  begin("{numBatches: 4, targetSize: 4}");
  describe_kind("{apiVersion: apps/v1, kind: ReplicaSet}");
  EXPECT_TRUE(until_state("rolloutSucceed", minutes{1})) << json::print(status());
  EXPECT_EQ(get(kube::kReplicaSets, "set")["status"]["readyReplicas"].as_int(), 4);
}

TEST_F(Rows, that_are_bad_are_reported_by_an_event_and_by_who_waits) {
  begin();
  describe_kind("{apiVersion: apps/v1, kind: ReplicaSet, alone: Sideways}");
  advance(seconds{30});
  EXPECT_TRUE(waits().contains("ConfigMap vela-system/sets cannot be used: ")) << waits();
  EXPECT_TRUE(waits().contains("alone")) << waits();
  EXPECT_TRUE(events().contains("InvalidWorkloadRow: it describes no kind for rollouts: ")) << events();
  describe_kind("{apiVersion: apps/v1, kind: ReplicaSet, alone: Scale}");
  EXPECT_TRUE(until_state("rolloutSucceed", minutes{1})) << json::print(status());
}

TEST_F(Rows, without_the_key_row_are_reported) {
  begin();
  describe_nothing();
  advance(seconds{30});
  EXPECT_TRUE(events().contains("InvalidWorkloadRow: it describes no kind for rollouts: data.row: Required value")) << events();
  EXPECT_TRUE(waits().contains("data.row: Required value")) << waits();
  describe_kind("{apiVersion: apps/v1, kind: ReplicaSet}");
  EXPECT_TRUE(until_state("rolloutSucceed", minutes{1})) << json::print(status());
}

}  // namespace
}  // namespace slipway::rollout_test

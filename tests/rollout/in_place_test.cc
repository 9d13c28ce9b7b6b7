// Rollouts of one object whose pods become new: by a partition, by deleting old pods, and fields without pods.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/rollout/show.h"
#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

const kube::Resource kStatefulSets{"apps", "v1", "statefulsets"};
const kube::Resource kCloneSets{"apps.kruise.io", "v1alpha1", "clonesets"};
const kube::Resource kDaemonSets{"apps", "v1", "daemonsets"};
const kube::Resource kAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};

class InPlace : public RolloutTest {
 public:
  void workload(std::string_view kind, std::string_view spec, std::string_view image, std::string_view annotations = "") {
    apply(
        fmt::format("{{apiVersion: apps/v1, kind: {}, metadata: {{name: db}}, spec: {{selector: {{matchLabels: {{app: db}}}}, "
                    "template: {{metadata: {{labels: {{app: db}}, annotations: {{{}}}}}, spec: {{containers: [{{name: main, "
                    "image: '{}'}}]}}}}, {}}}}}",
                    kind, annotations, image, spec));
  }
  void stateful_set(std::string_view image, std::string_view annotations = "") {
    workload("StatefulSet",
             "replicas: 6, serviceName: db, podManagementPolicy: Parallel, updateStrategy: {type: "
             "RollingUpdate, rollingUpdate: {partition: 6}}",
             image, annotations);
  }
  void clone_set(std::string_view image, int replicas, std::string_view strategy) {
    apply(
        fmt::format("{{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {{name: db}}, spec: {{replicas: {}, "
                    "updateStrategy: {{{}}}, selector: {{matchLabels: {{app: db}}}}, template: {{metadata: {{labels: "
                    "{{app: db}}}}, spec: {{containers: [{{name: main, image: '{}'}}]}}}}}}}}",
                    replicas, strategy, image));
  }
  void roll(std::string_view kind, std::string_view plan, std::string_view api_version = "apps/v1") {
    apply(
        fmt::format("{{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {{name: r}}, spec: {{targetRef: "
                    "{{apiVersion: {}, kind: {}, name: db}}, rolloutPlan: {}}}}}",
                    api_version, kind, plan));
  }
  std::int64_t pods_of(std::string_view image) {
    return std::ranges::count_if(list(kube::kPods), [&](const Value& pod) {
      return pod["spec"]["containers"].item(0)["image"].as_string() == image && kube::is_true(pod, "Ready");
    });
  }
};

TEST_F(InPlace, a_stateful_set_goes_by_its_partition) {
  stateful_set("db:1");
  advance(seconds{30});
  ASSERT_EQ(pods_of("db:1"), 6);
  patch(kStatefulSets, "db", "{spec: {template: {spec: {containers: [{name: main, image: 'db:2'}]}}}}");
  roll("StatefulSet", "{numBatches: 3, batchPartition: 0}");
  until_batch(0, "batchReady");
  EXPECT_EQ(pods_of("db:2"), 2);
  EXPECT_EQ(get(kStatefulSets, "db")["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_int(), 4);
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(pods_of("db:2"), 6);
  EXPECT_EQ(status()["shape"].as_string(), "InPlace");
}

TEST_F(InPlace, a_bad_stateful_set_gets_its_old_template_back) {
  stateful_set("db:1");
  advance(seconds{30});
  patch(kStatefulSets, "db",
        "{spec: {template: {metadata: {annotations: {slipway.dev/ready-after: never}}, spec: {containers: [{name: main, image: "
        "'db:2'}]}}}}");
  roll("StatefulSet", "{numBatches: 3, batchDeadlineSeconds: 60, onFailure: Revert}");
  until_state("rolloutFailed");
  advance(seconds{30});
  EXPECT_EQ(pods_of("db:1"), 6);
  EXPECT_EQ(get(kStatefulSets, "db")["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_int(), 6);
}

/// As OpenKruise users write it: paused until the rollout takes it.
TEST_F(InPlace, a_clone_set_goes_by_its_partition) {
  clone_set("db:1", 6, "paused: false");
  advance(seconds{30});
  ASSERT_EQ(pods_of("db:1"), 6);
  clone_set("db:2", 6, "paused: true");
  advance(seconds{10});
  ASSERT_EQ(pods_of("db:1"), 6);
  roll("CloneSet", "{numBatches: 3, batchPartition: 0}", "apps.kruise.io/v1alpha1");
  until_batch(0, "batchReady");
  EXPECT_EQ(pods_of("db:2"), 2);
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(pods_of("db:2"), 6);
}

/// Its partition counts the pods that may be other than the template says, whichever template that is.
TEST_F(InPlace, a_clone_set_is_reverted_whole) {
  for (const char* strategy : {"paused: true", "paused: true, type: InPlaceIfPossible", "partition: 4"}) {
    SCOPED_TRACE(strategy);
    clone_set("db:1", 4, strategy);
    advance(seconds{30});
    ASSERT_EQ(pods_of("db:1"), 4);
    const Value before = get(kCloneSets, "db")["spec"];
    clone_set("db:2", 4, strategy);
    advance(seconds{10});
    ASSERT_EQ(pods_of("db:1"), 4);
    roll("CloneSet", "{rolloutBatches: [{replicas: 1}, {}], batchPartition: 0, onFailure: Revert}", "apps.kruise.io/v1alpha1");
    until_batch(0, "batchReady");
    ASSERT_EQ(pods_of("db:2"), 1);
    patch(kTraits, "r", "{metadata: {annotations: {rollout.slipway.dev/revert: now}}}");
    ASSERT_TRUE(until_state("rolloutFailed"));
    advance(seconds{30});
    EXPECT_EQ(pods_of("db:1"), 4);
    EXPECT_EQ(get(kCloneSets, "db")["spec"], before);
    remove(kTraits, "r");
    remove(kCloneSets, "db");
    advance(seconds{30});
  }
}

TEST_F(InPlace, a_clone_set_is_reverted_when_its_rollout_is_deleted) {
  clone_set("db:1", 4, "paused: true");
  advance(seconds{30});
  clone_set("db:2", 4, "paused: true");
  const std::string pod(kube::name(list(kube::kPods).at(2)));
  roll("CloneSet", fmt::format("{{rolloutBatches: [{{podList: [{}]}}, {{}}], batchPartition: 0, revertOnDelete: true}}", pod),
       "apps.kruise.io/v1alpha1");
  until_batch(0, "batchReady");
  ASSERT_EQ(pods_of("db:2"), 1);
  remove(kTraits, "r");
  EXPECT_TRUE(until([&] { return peek("standard.oam.dev/v1alpha1", "RolloutTrait", "r").is_null(); }));
  advance(seconds{30});
  EXPECT_EQ(pods_of("db:1"), 4);
}

TEST_F(InPlace, a_daemon_set_goes_pod_by_pod) {
  workload("DaemonSet", "updateStrategy: {type: RollingUpdate}", "db:1");
  advance(seconds{30});
  ASSERT_EQ(pods_of("db:1"), 1);
  patch(kDaemonSets, "db", "{spec: {updateStrategy: {type: OnDelete, rollingUpdate: null}}}");
  advance(seconds{5});
  patch(kDaemonSets, "db", "{spec: {template: {spec: {containers: [{name: main, image: 'db:2'}]}}}}");
  roll("DaemonSet", "{numBatches: 1}");
  until_state("rolloutSucceed");
  EXPECT_EQ(pods_of("db:2"), 1);
}

TEST_F(InPlace, a_daemon_set_that_is_refused_before_its_first_pod_gets_its_old_template_back) {
  workload("DaemonSet", "updateStrategy: {type: OnDelete}", "db:1");
  advance(seconds{30});
  patch(kDaemonSets, "db", "{spec: {template: {spec: {containers: [{name: main, image: 'db:2'}]}}}}");
  advance(seconds{5});
  web_.replies = {{403, "no"}};
  roll("DaemonSet",
       "{rolloutBatches: [{replicas: 1, gates: [{name: ask, at: before, webhook: {url: 'http://hooks.test/'}}]}], onFailure: "
       "Revert}");
  ASSERT_TRUE(until_state("rolloutFailed"));
  const std::string pod(kube::name(list(kube::kPods).at(0)));
  remove(kube::kPods, pod);
  advance(seconds{30});
  EXPECT_EQ(pods_of("db:1"), 1) << "a pod that is lost later comes back as it was";
}

TEST_F(InPlace, fields_of_an_autoscaler_go_step_by_step) {
  apply(
      "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: db, annotations: "
      "{rollout.slipway.dev/fields: '{\"spec.maxReplicas\": 20, \"spec.metrics.0.resource.target.averageUtilization\": 50}'}}, "
      "spec: {minReplicas: 2, maxReplicas: 10, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: db}, metrics: "
      "[{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}");
  advance(seconds{5});
  roll("HorizontalPodAutoscaler", "{rolloutBatches: [{replicas: 50%}, {replicas: 50%}], batchPartition: 0}", "autoscaling/v2");
  until_batch(0, "batchReady");
  EXPECT_EQ(get(kAutoscalers, "db")["spec"]["maxReplicas"].as_int(), 15);
  EXPECT_EQ(get(kAutoscalers, "db")["spec"]["metrics"].item(0)["resource"]["target"]["averageUtilization"].as_int(), 65);
  const std::string shown = delivery::rollout::summary_text(get(kTraits, "r"));
  EXPECT_TRUE(shown.contains("fields at 50 of 100") && !shown.contains("pods")) << shown;
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_EQ(get(kAutoscalers, "db")["spec"]["maxReplicas"].as_int(), 20);
}

}  // namespace
}  // namespace slipway::rollout_test

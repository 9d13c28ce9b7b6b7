// rolloutPlan.snapshotConfig: the new version keeps the ConfigMaps and Secrets that it was rolled out with.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

const kube::Resource kConfigStatefulSets{"apps", "v1", "statefulsets"};

class Config : public RolloutTest {
 public:
  void settings(const std::string& value) {
    apply(fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: conf}}, data: {{greeting: {}}}}}", value));
    apply(fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: pass}}, stringData: {{key: {}}}}}", value));
  }
  /// A Deployment whose pods read conf and pass.
  void version(const std::string& name, int replicas, const std::string& kind = "Deployment", const std::string& more = "",
               const std::string& ready = "2s", const std::string& image = "") {
    const auto made = apply(fmt::format(
        "{{apiVersion: apps/v1, kind: {}, metadata: {{name: {}}}, spec: {{replicas: {}, {} selector: {{matchLabels: {{set: "
        "{}}}}}, template: {{metadata: {{labels: {{set: {}}}, annotations: {{slipway.dev/ready-after: {}}}}}, spec: "
        "{{containers: "
        "[{{name: main, image: '{}', envFrom: [{{configMapRef: {{name: conf}}}}]}}], volumes: [{{name: p, secret: "
        "{{secretName: "
        "pass}}}}]}}}}}}}}",
        kind, name, replicas, more, name, name, ready, image.empty() ? name : image));
    ASSERT_TRUE(made) << made.error().message;
  }
  Value pod_spec(const std::string& name, const kube::Resource& kind = kDeployments) {
    return get(kind, name)["spec"]["template"]["spec"];
  }
  static std::string conf_of(const Value& spec) {
    return spec["containers"].item(0)["envFrom"].item(0)["configMapRef"]["name"].str();
  }
  std::string greeting(const Value& spec) { return get(kube::kConfigMaps, conf_of(spec))["data"]["greeting"].str(); }
  std::size_t copies() {
    std::size_t count = 0;
    for (const kube::Resource& kind : {kube::kConfigMaps, kube::kSecrets}) {
      for (const Value& one : list(kind)) count += kube::annotation(one, "rollout.slipway.dev/copy-of").empty() ? 0 : 1;
    }
    return count;
  }
};

TEST_F(Config, goes_with_the_target_and_comes_back_with_the_source) {
  settings("one");
  version("web-v1", 0);
  rollout("web-v1", {}, "{targetSize: 4, numBatches: 1, snapshotConfig: true}");
  ASSERT_TRUE(until_state("rolloutSucceed"));
  const Value first = pod_spec("web-v1");
  EXPECT_NE(conf_of(first), "conf");
  EXPECT_NE(first["volumes"].item(0)["secret"]["secretName"].str(), "pass");
  settings("two");
  version("web-v2", 0, "Deployment", "", "never");
  rollout("web-v2", {"web-v1"}, "{numBatches: 2, snapshotConfig: true, batchDeadlineSeconds: 30, onFailure: Revert}");
  ASSERT_TRUE(until([&] { return !peek_status()["failure"].as_string().empty(); }));
  EXPECT_EQ(greeting(pod_spec("web-v2")), "two");
  ASSERT_TRUE(until_state("rolloutFailed"));
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
  EXPECT_EQ(pod_spec("web-v1"), first);
  EXPECT_EQ(greeting(pod_spec("web-v1")), "one") << "what it was rolled out with";
  EXPECT_EQ(copies(), 4U);
  EXPECT_FALSE(patch(kube::kConfigMaps, conf_of(first), "{data: {greeting: three}}")) << "immutable";
  const std::string of_second = conf_of(pod_spec("web-v2"));
  remove(kDeployments, "web-v2");
  advance(minutes{1});
  EXPECT_TRUE(get(kube::kConfigMaps, of_second).is_null()) << "it goes with its workload";
}

TEST_F(Config, that_changes_in_between_is_not_seen_by_later_batches) {
  settings("one");
  deployment("web-v1", 4);
  version("web-v2", 0);
  advance(seconds{10});
  rollout("web-v2", {"web-v1"}, "{numBatches: 2, batchPartition: 0, snapshotConfig: true}");
  ASSERT_TRUE(until_batch(0, "batchReady"));
  const Value half = pod_spec("web-v2");
  settings("two");
  advance(minutes{1});
  // Whoever applies the same template again changes nothing but names.
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  ASSERT_TRUE(until_state("rolloutSucceed"));
  EXPECT_EQ(pod_spec("web-v2"), half);
  EXPECT_EQ(greeting(half), "one");
  EXPECT_EQ(status()["attempt"].as_int(), 1);
}

TEST_F(Config, that_is_missing_is_waited_for) {
  deployment("web-v1", 2);
  version("web-v2", 0);
  advance(seconds{10});
  rollout("web-v2", {"web-v1"}, "{numBatches: 1, snapshotConfig: true}");
  advance(minutes{1});
  EXPECT_EQ(sizes(), "web-v1 2, web-v2 0");
  EXPECT_TRUE(
      status()["waits"].item(0)["text"].as_string().starts_with("snapshotConfig of Deployment/web-v2: ConfigMap conf: "))
      << json::print(status());
  settings("one");
  ASSERT_TRUE(until_state("rolloutSucceed"));
  EXPECT_EQ(greeting(pod_spec("web-v2")), "one");
}

TEST_F(Config, of_what_is_updated_in_place_comes_back_with_the_old_template) {
  settings("one");
  const std::string held = "serviceName: db, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 3}},";
  version("db", 3, "StatefulSet", held, "2s", "db:1");
  advance(seconds{30});
  const std::string kRollout =
      "{{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {{name: r}}, spec: {{targetRef: {{apiVersion: "
      "apps/v1, kind: StatefulSet, name: db}}, rolloutPlan: {}}}}}";
  version("db", 3, "StatefulSet", held, "2s", "db:2");
  advance(seconds{5});
  apply(fmt::format(fmt::runtime(kRollout), "{numBatches: 1, snapshotConfig: true}"));
  ASSERT_TRUE(until_state("rolloutSucceed"));
  const Value second = pod_spec("db", kConfigStatefulSets);
  EXPECT_EQ(greeting(second), "one");
  EXPECT_NE(conf_of(second), "conf");
  settings("two");
  patch(kConfigStatefulSets, "db", "{spec: {updateStrategy: {rollingUpdate: {partition: 3}}}}");
  version("db", 3, "StatefulSet", held, "never", "db:3");
  advance(seconds{5});
  apply(fmt::format(fmt::runtime(kRollout),
                    "{numBatches: 1, snapshotConfig: true, batchDeadlineSeconds: 30, onFailure: Revert}"));
  ASSERT_TRUE(until([&] { return !peek_status()["failure"].as_string().empty(); }));
  ASSERT_TRUE(until_state("rolloutFailed"));
  advance(minutes{1});
  EXPECT_EQ(greeting(pod_spec("db", kConfigStatefulSets)), "one");
  for (const Value& pod : list(kube::kPods)) EXPECT_EQ(greeting(pod["spec"]), "one") << kube::name(pod);
}

TEST_F(Config, of_a_workload_that_is_made_is_copied_before_its_first_pod) {
  settings("one");
  apply(
      "{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: web-v1, labels: {app.oam.dev/component: web}}, "
      "revision: "
      "1, data: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: "
      "{app: "
      "web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: 'web:1', envFrom: "
      "[{configMapRef: {name: conf}}]}]}}}}}");
  apply(
      "{apiVersion: standard.oam.dev/v1alpha1, kind: Rollout, metadata: {name: r}, spec: {targetRevisionName: web-v1, "
      "componentName: web, rolloutPlan: {numBatches: 1, snapshotConfig: true}}}");
  ASSERT_TRUE(until([&] {
    return peek("standard.oam.dev/v1alpha1", "Rollout", "r")["status"]["rollingState"].as_string() == "rolloutSucceed";
  })) << json::print_pretty(get(delivery::rollout::kRollouts, "r"));
  EXPECT_EQ(greeting(pod_spec("web-v1")), "one");
  EXPECT_EQ(copies(), 1U);
  EXPECT_EQ(get(kube::kConfigMaps, conf_of(pod_spec("web-v1")))["metadata"]["ownerReferences"],
            get(kDeployments, "web-v1")["metadata"]["ownerReferences"]);
}

}  // namespace
}  // namespace slipway::rollout_test

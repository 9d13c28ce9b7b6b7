// Rollouts of revisions: the kinds Rollout and AppRollout make the workloads that their revisions name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/family/claimed_fields.h"
#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

using delivery::rollout::kAppRollouts;
using delivery::rollout::kRollouts;

const kube::Resource kRevisions{"apps", "v1", "controllerrevisions"};
const kube::Resource kRevisionStatefulSets{"apps", "v1", "statefulsets"};
const kube::Resource kScalers{"autoscaling", "v2", "horizontalpodautoscalers"};

std::string workload(const std::string& image, std::int64_t replicas, const char* kind = "Deployment",
                     const char* annotations = "slipway.dev/ready-after: 2s") {
  return fmt::format(
      "{{apiVersion: apps/v1, kind: {}, metadata: {{name: web, labels: {{app.oam.dev/component: web, app.oam.dev/name: a, "
      "app.oam.dev/resourceType: WORKLOAD}}}}, spec: {{replicas: {}, selector: {{matchLabels: {{app.oam.dev/component: "
      "web}}}}, "
      "template: {{metadata: {{labels: {{app.oam.dev/component: web}}, annotations: {{{}}}}}, spec: {{containers: [{{name: "
      "web, "
      "image: '{}'}}]}}}}}}}}",
      kind, replicas, annotations, image);
}

class Revisions : public RolloutTest {
 public:
  /// Of an application: the ConfigMap of its rendered objects.
  void revision(const std::string& name, const std::string& object, const std::string& others = "") {
    const auto list = json::parse_yaml("[" + object + others + "]");
    ASSERT_TRUE(list);
    const Value map = json::object({{"apiVersion", "v1"},
                                    {"kind", "ConfigMap"},
                                    {"metadata", json::object({{"name", name}})},
                                    {"data", json::object({{"web", json::print(*list)}})}});
    apply(json::print(map));
  }
  void roll(const std::string& target, const std::string& source, std::string_view plan) {
    apply(fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: AppRollout, metadata: {{name: r}}, spec: {{targetAppRevisionName: "
        "{}, {} rolloutPlan: {}}}}}",
        target, source.empty() ? "" : fmt::format("sourceAppRevisionName: {},", source), plan));
  }
  Value rolled() { return peek("core.oam.dev/v1beta1", "AppRollout", "r")["status"]; }
  void await(std::string_view state, std::string_view target) {
    const bool reached = until(
        [&] { return rolled()["rollingState"].as_string() == state && rolled()["lastTargetRevision"].as_string() == target; });
    EXPECT_TRUE(reached) << sizes() << "\n" << json::print_pretty(rolled());
  }
};

TEST_F(Revisions, of_an_application_follow_each_other) {
  revision("a-v1", workload("web:1", 4),
           ", {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, "
           "ports: [{port: 80}]}}");
  roll("a-v1", "", "{numBatches: 2}");
  await("rolloutSucceed", "a-v1");
  EXPECT_EQ(sizes(), "web-v1 4");
  EXPECT_FALSE(get(kube::kServices, "web").is_null());
  const Value made = get(kDeployments, "web-v1");
  EXPECT_EQ(kube::label(made, "app.oam.dev/component"), "web");
  EXPECT_TRUE(kube::controller_of(made).is_null());
  EXPECT_EQ(made["metadata"]["ownerReferences"].item(0)["name"].as_string(), "a-v1");
  revision("a-v2", workload("web:2", 4));
  roll("a-v2", "a-v1", "{numBatches: 2, batchPartition: 0}");
  ASSERT_TRUE(until([&] {
    return rolled()["lastTargetRevision"].as_string() == "a-v2" && rolled()["batchRollingState"].as_string() == "batchReady";
  }));
  EXPECT_EQ(sizes(), "web-v1 2, web-v2 2");
  patch(kAppRollouts, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  await("rolloutSucceed", "a-v2");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 4");
  EXPECT_EQ(rolled()["LastSourceRevision"].as_string(), "a-v1");
  revision("a-v3", workload("web:3", 4));
  roll("a-v3", "", "{numBatches: 1}");
  await("rolloutSucceed", "a-v3");
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 0, web-v3 4") << "the source is what it rolled out before";
}

TEST_F(Revisions, are_marked_until_the_rollout_has_taken_charge_of_what_it_made) {
  revision("a-v1", workload("web:1", 2));
  int marked = 0, claimed_and_marked = 0;
  always_ = [&]() -> std::string {
    const Value made = peek("apps/v1", "Deployment", "web-v1");
    if (kube::annotation(made, "app.oam.dev/creating") != "true") return "";
    ++marked;
    if (made["spec"]["replicas"].as_int() != 0 || !kube::controller_of(made).is_null()) ++claimed_and_marked;
    return "";
  };
  roll("a-v1", "", "{numBatches: 1}");
  await("rolloutSucceed", "a-v1");
  EXPECT_GT(marked, 0);
  EXPECT_EQ(claimed_and_marked, 0);
  EXPECT_EQ(kube::annotation(get(kDeployments, "web-v1"), "app.oam.dev/creating"), "");
}

TEST_F(Revisions, that_are_bad_go_and_what_was_made_outlives_the_rollout) {
  revision("a-v1", workload("web:1", 2));
  roll("a-v1", "", "{numBatches: 1}");
  await("rolloutSucceed", "a-v1");
  revision("a-v2", workload("web:2", 2, "Deployment", "slipway.dev/ready-after: never"));
  roll("a-v2", "a-v1", "{numBatches: 2, batchDeadlineSeconds: 30, onFailure: Revert}");
  await("rolloutFailed", "a-v2");
  EXPECT_EQ(sizes(), "web-v1 2, web-v2 0");
  remove(kAppRollouts, "r");
  advance(seconds{30});
  EXPECT_TRUE(get(kAppRollouts, "r").is_null());
  EXPECT_EQ(ready_pods(), 2);
}

TEST_F(Revisions, drain_what_was_delivered_under_the_components_name) {
  apply(workload("web:1", 3));
  advance(seconds{10});
  revision("a-v2", workload("web:2", 1));
  roll("a-v2", "a-v1", "{numBatches: 1}");
  await("rolloutSucceed", "a-v2");
  EXPECT_EQ(sizes(), "web 0, web-v2 1") << "T is what the revision declares";
}

TEST_F(Revisions, of_a_stateful_set_are_renewed_in_place) {
  revision("a-v1", workload("web:1", 3, "StatefulSet"));
  roll("a-v1", "", "{numBatches: 1}");
  await("rolloutSucceed", "a-v1");
  revision("a-v2", workload("web:2", 3, "StatefulSet"));
  roll("a-v2", "a-v1", "{numBatches: 3, batchPartition: 0}");
  ASSERT_TRUE(until([&] {
    return rolled()["lastTargetRevision"].as_string() == "a-v2" && rolled()["batchRollingState"].as_string() == "batchReady";
  }));
  advance(seconds{30});
  const auto pods_of = [&](std::string_view image) {
    return std::ranges::count_if(list(kube::kPods), [&](const Value& pod) {
      return pod["spec"]["containers"].item(0)["image"].as_string() == image && kube::is_true(pod, "Ready");
    });
  };
  EXPECT_EQ(pods_of("web:2"), 1);
  EXPECT_EQ(pods_of("web:1"), 2);
  EXPECT_EQ(kube::annotation(get(kRevisionStatefulSets, "web"), delivery::kClaimedFields),
            "spec.replicas,spec.updateStrategy.rollingUpdate.partition");
  patch(kAppRollouts, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  await("rolloutSucceed", "a-v2");
  EXPECT_EQ(pods_of("web:2"), 3);
  EXPECT_EQ(kube::annotation(get(kRevisionStatefulSets, "web"), delivery::kClaimedFields), "");
}

TEST_F(Revisions, get_their_autoscalers_at_the_end) {
  const std::string scaler =
      ", {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {minReplicas: 2, "
      "maxReplicas: 4, "
      "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}";
  revision("a-v1", workload("web:1", 2), scaler);
  roll("a-v1", "", "{numBatches: 2, batchPartition: 0}");
  ASSERT_TRUE(until([&] { return rolled()["batchRollingState"].as_string() == "batchReady"; }));
  EXPECT_TRUE(get(kScalers, "web").is_null());
  patch(kAppRollouts, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  await("rolloutSucceed", "a-v1");
  advance(seconds{10});
  EXPECT_EQ(get(kScalers, "web")["spec"]["scaleTargetRef"]["name"].as_string(), "web-v1");
  revision("a-v2", workload("web:2", 2, "Deployment", "slipway.dev/ready-after: never"), scaler);
  roll("a-v2", "a-v1", "{numBatches: 2, batchDeadlineSeconds: 30, onFailure: Revert}");
  ASSERT_TRUE(until([&] { return rolled()["rollingState"].as_string() == "rollingInBatches"; }));
  EXPECT_TRUE(get(kScalers, "web").is_null()) << "that of the source works against it too";
  await("rolloutFailed", "a-v2");
  advance(seconds{10});
  EXPECT_EQ(get(kScalers, "web")["spec"]["scaleTargetRef"]["name"].as_string(), "web-v1");
}

TEST_F(Revisions, that_are_not_there_are_waited_for) {
  roll("a-v1", "", "{numBatches: 1}");
  advance(seconds{10});
  EXPECT_EQ(rolled()["waits"].item(0)["on"].as_string(), "spec") << json::print(rolled());
  EXPECT_TRUE(kube::condition(get(kAppRollouts, "r"), "RolloutFailed").is_null()) << "it has not failed: it waits";
  EXPECT_EQ(kube::condition(get(kAppRollouts, "r"), "Holding")["status"].as_string(), "True");
  revision("a-v1", workload("web:1", 1));
  await("rolloutSucceed", "a-v1");
}

/// Traffic of an abandoned attempt is still being given back when the next revision goes, with its application perhaps.
class LostRevision : public Revisions, public ::testing::WithParamInterface<bool> {
 public:
  void begin() {
    apply(
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app.oam.dev/component: web}, ports: [{port: "
        "80}]}}");
    apply(
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: nginx, rules: "
        "[{host: web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: "
        "80}}}}]}}]}}");
    for (int i = 1; i <= 3; ++i) revision(fmt::format("a-v{}", i), workload(fmt::format("web:{}", i), 4));
    roll("a-v1", "", "{numBatches: 1}");
    await("rolloutSucceed", "a-v1");
    roll("a-v2", "a-v1",
         "{numBatches: 2, batchPartition: 0, traffic: {provider: nginx, ingressRef: {name: web}, service: web, sourceService: "
         "web, settleSeconds: 3, drainSeconds: 20}}");
    ASSERT_TRUE(until([&] {
      return rolled()["lastTargetRevision"].as_string() == "a-v2" && rolled()["batchRollingState"].as_string() == "batchReady";
    })) << json::print_pretty(rolled());
    ASSERT_FALSE(get(kRoutes, "web-canary").is_null());
    roll("a-v3", "a-v1", "{numBatches: 2}");
    ASSERT_TRUE(until([&] {
      return rolled()["rollingState"].as_string() == "locatingTargetApp" && rolled()["heldTraffic"].is_object();
    })) << json::print(rolled());
  }

  const kube::Resource kRoutes{"networking.k8s.io", "v1", "ingresses"};
};

TEST_P(LostRevision, leaves_no_traffic_split) {
  ASSERT_NO_FATAL_FAILURE(begin());
  for (const char* name : {"a-v2", "a-v3"}) remove(kube::kConfigMaps, name);
  if (GetParam()) remove(kAppRollouts, "r");
  const auto is_over = [&] { return rolled().is_null() || rolled()["rollingState"].as_string() == "rolloutFailed"; };
  ASSERT_TRUE(until(is_over, minutes{2})) << json::print_pretty(rolled());
  EXPECT_TRUE(get(kRoutes, "web-canary").is_null());
  EXPECT_TRUE(get(kube::kServices, "web-target").is_null());
  EXPECT_EQ(json::print(get(kube::kServices, "web")["spec"]["selector"]), R"({"app.oam.dev/component":"web"})");
  for (const char* name : {"web-v1", "web-v2"}) EXPECT_TRUE(kube::controller_of(get(kDeployments, name)).is_null()) << name;
  EXPECT_EQ(sizes(), "web-v1 2, web-v2 2");
  if (!GetParam()) remove(kAppRollouts, "r");
  EXPECT_TRUE(until([&] { return get(kAppRollouts, "r").is_null(); }, minutes{1}));
}

INSTANTIATE_TEST_SUITE_P(, LostRevision, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "when_it_is_deleted_too" : "when_it_stays"; });

TEST_F(Revisions, wait_for_approvals_as_paused) {
  revision("a-v1", workload("web:1", 2));
  roll("a-v1", "", "{rolloutBatches: [{replicas: 1}, {replicas: 1, gates: [{name: go, at: before, approval: {}}]}]}");
  ASSERT_TRUE(until([&] { return rolled()["pause"].as_bool(); })) << json::print(rolled());
  EXPECT_EQ(sizes(), "web-v1 1");
  auto resumed = env_->run(client::merge_patch(api_->server(), kAppRollouts, {"default", "r"},
                                               *json::parse(R"({"status":{"pause":false}})"), "tester", "status"));
  ASSERT_TRUE(resumed) << resumed.error().message;
  await("rolloutSucceed", "a-v1");
  EXPECT_EQ(sizes(), "web-v1 2");
  EXPECT_FALSE(rolled()["pause"].as_bool());
  EXPECT_EQ(rolled()["approvals"].item(0)["user"].as_string(), "local");
}

TEST_F(Revisions, of_a_component_are_controller_revisions) {
  const auto record = [&](const std::string& name, const std::string& image) {
    const auto data = json::parse_yaml(workload(image, 1));
    apply(json::print(json::object({{"apiVersion", "apps/v1"},
                                    {"kind", "ControllerRevision"},
                                    {"metadata", json::object({{"name", name}})},
                                    {"revision", 1},
                                    {"data", *data}})));
  };
  const auto roll_to = [&](const std::string& name) {
    apply(
        fmt::format("{{apiVersion: standard.oam.dev/v1alpha1, kind: Rollout, metadata: {{name: r}}, spec: "
                    "{{targetRevisionName: {}, componentName: web, rolloutPlan: {{targetSize: 3, numBatches: 3}}}}}}",
                    name));
    EXPECT_TRUE(until([&] {
      const Value now = peek("standard.oam.dev/v1alpha1", "Rollout", "r")["status"];
      return now["rollingState"].as_string() == "rolloutSucceed" && now["lastTargetRevision"].as_string() == name;
    })) << sizes()
        << json::print_pretty(get(kRollouts, "r")["status"]);
  };
  record("backend-v1", "web:1");
  roll_to("backend-v1");
  EXPECT_EQ(sizes(), "backend-v1 3");
  record("backend-v2", "web:2");
  roll_to("backend-v2");
  EXPECT_EQ(sizes(), "backend-v1 0, backend-v2 3");
  remove(kRevisions, "backend-v1");
  advance(seconds{30});
  EXPECT_EQ(sizes(), "backend-v2 3") << "what was made of a revision goes with it";
}

}  // namespace
}  // namespace slipway::rollout_test

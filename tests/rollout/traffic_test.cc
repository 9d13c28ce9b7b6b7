// Rollouts that move traffic along with pods: through an Ingress of nginx.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

const kube::Resource kIngresses{"networking.k8s.io", "v1", "ingresses"};

class Traffic : public RolloutTest {
 public:
  void begin(std::string_view more, const Version& second = {"web:2"}) {
    deployment("web-v1", 4);
    deployment("web-v2", 0, second);
    apply("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}");
    apply(
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: nginx, rules: "
        "[{host: web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: "
        "80}}}}]}}]}}");
    advance(seconds{10});
    rollout("web-v2", {"web-v1"},
            fmt::format("{{numBatches: 2, traffic: {{provider: nginx, ingressRef: {{name: web}}, service: web, sourceService: "
                        "web, settleSeconds: 3, drainSeconds: 10}}{}}}",
                        more));
  }
  std::string weight() {
    return std::string(
        kube::annotation(peek("networking.k8s.io/v1", "Ingress", "web-canary"), "nginx.ingress.kubernetes.io/canary-weight"));
  }
};

TEST_F(Traffic, the_weight_follows_ready_pods_and_everything_is_given_back) {
  begin("");
  std::vector<std::string> weights;
  always_ = [&]() -> std::string {
    const std::string now = weight();
    if (!now.empty() && (weights.empty() || weights.back() != now)) weights.push_back(now);
    return "";
  };
  until_state("rolloutSucceed");
  EXPECT_EQ(weights, (std::vector<std::string>{"0", "50", "100"}));
  EXPECT_EQ(sizes(), "web-v1 0, web-v2 4");
  EXPECT_TRUE(get(kIngresses, "web-canary").is_null());
  EXPECT_EQ(json::print(get(kube::kServices, "web")["spec"]["selector"]), R"({"app":"web"})");
  EXPECT_TRUE(get(kube::kServices, "web-target").is_null());
}

TEST_F(Traffic, no_pod_goes_before_its_share_has_been_away_for_the_drain_time) {
  begin("");
  std::optional<Time> moved;
  always_ = [&]() -> std::string {
    if (weight() == "50" && !moved) moved = env_->now();
    const bool is_early = peek_size("web-v1") < 4 && (!moved || env_->now() < *moved + seconds{10});
    return is_early ? "old pods go too early" : "";
  };
  until_state("rolloutSucceed");
  EXPECT_TRUE(moved);
}

TEST_F(Traffic, a_revert_takes_the_traffic_back_first) {
  begin(", onFailure: Revert, rolloutBatches: [{replicas: 2}, {replicas: 2}], batchPartition: 0");
  until_batch(0, "batchReady");
  EXPECT_EQ(weight(), "50");
  patch(kTraits, "r", "{metadata: {annotations: {rollout.slipway.dev/abort: one}}}");
  always_ = [&]() -> std::string {
    return weight() == "50" && peek_size("web-v2") < 2 ? "new pods go while they have traffic" : "";
  };
  until_state("rolloutFailed");
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
  EXPECT_TRUE(get(kIngresses, "web-canary").is_null());
  EXPECT_EQ(json::print(get(kube::kServices, "web")["spec"]["selector"]), R"({"app":"web"})");
}

/// Of two rollouts with the same Ingress and Services the second waits, and says for which.
TEST_F(Traffic, two_rollouts_never_share_a_service_or_a_route) {
  begin(", batchPartition: 0");
  until_batch(0, "batchReady");
  deployment("shop-v1", 4);
  deployment("shop-v2", 0);
  advance(seconds{10});
  apply(
      "{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {name: second}, spec: {targetRef: {apiVersion: "
      "apps/v1, kind: Deployment, name: shop-v2}, sourceRef: [{apiVersion: apps/v1, kind: Deployment, name: shop-v1}], "
      "rolloutPlan: {numBatches: 1, onFailure: Revert, traffic: {provider: nginx, ingressRef: {name: web}, service: web}}}}");
  const auto told = [&] {
    const Value waits = peek("standard.oam.dev/v1alpha1", "RolloutTrait", "second")["status"]["waits"];
    return waits.item(0)["text"].as_string().contains("RolloutTrait r works on Ingress/web");
  };
  always_ = [&]() -> std::string {
    const Value selector = peek("v1", "Service", "web")["spec"]["selector"]["version"];
    return selector == Value("web-v1") && weight() == "50" ? "" : "the first rollout's traffic is changed";
  };
  EXPECT_TRUE(until(told, minutes{1})) << json::print_pretty(get(kTraits, "second")["status"]);
  patch(kTraits, "second", "{metadata: {annotations: {rollout.slipway.dev/abort: now}}}");
  EXPECT_TRUE(until([&] {
    return peek("standard.oam.dev/v1alpha1", "RolloutTrait", "second")["status"]["rollingState"].as_string() == "rolloutFailed";
  }));
  patch(kTraits, "second", "{metadata: {annotations: {rollout.slipway.dev/retry: now}}}");
  EXPECT_TRUE(until(told, minutes{1}));
  always_ = {};
  patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: null}}}");
  until_state("rolloutSucceed");
  EXPECT_TRUE(until([&] {
    return peek("standard.oam.dev/v1alpha1", "RolloutTrait", "second")["status"]["rollingState"].as_string() ==
           "rolloutSucceed";
  }));
  EXPECT_EQ(sizes(), "shop-v1 0, shop-v2 4, web-v1 0, web-v2 4");
  for (const Value& object : {get(kIngresses, "web"), get(kube::kServices, "web")}) {
    EXPECT_EQ(kube::annotation(object, "rollout.slipway.dev/traffic-of"), "");
  }
}

TEST_F(Traffic, a_mark_of_a_rollout_that_is_gone_holds_nobody) {
  apply(
      "{apiVersion: v1, kind: Service, metadata: {name: web, annotations: {rollout.slipway.dev/traffic-of: "
      "RolloutTrait/gone/u1}}, spec: {selector: {app: web}, ports: [{port: 80}]}}");
  begin("");
  until_state("rolloutSucceed");
}

TEST_F(Traffic, a_source_without_ready_pods_gets_none) {
  const auto selected = [&](std::string_view service) { return peek("v1", "Service", service)["spec"]["selector"]["version"]; };
  begin(", paused: true");
  deployment("web-v3", 0);
  always_ = [&] { return selected("web") == Value("web-v2") ? "web-v2 has no pods" : ""; };
  rollout("web-v3", {"web-v1", "web-v2"},
          "{numBatches: 2, traffic: {provider: nginx, ingressRef: {name: web}, service: web, sourceService: web}}");
  until_batch(1, "batchInRolling");
  EXPECT_EQ(selected("web"), Value("web-v1"));
  EXPECT_EQ(selected("web-target"), Value("web-v3"));
}

TEST_F(Traffic, why_names_the_drain_and_not_pods_that_are_ready) {
  begin("");
  ASSERT_TRUE(until([&] { return weight() == "50"; }));
  advance(seconds{9});
  const std::string told = why(kTraits, "r");
  EXPECT_TRUE(told.contains("draining old pods for 10 s")) << told;
  EXPECT_FALSE(told.contains("new pods are ready")) << told;
}

TEST_F(Traffic, a_first_version_has_nothing_to_drain) {
  deployment("web-v1", 0);
  apply("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}");
  apply(
      "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: nginx, rules: "
      "[{host: web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: "
      "80}}}}]}}]}}");
  rollout(
      "web-v1", {},
      "{targetSize: 2, numBatches: 1, traffic: {provider: nginx, ingressRef: {name: web}, service: web, settleSeconds: 3}}");
  EXPECT_TRUE(until_state("rolloutSucceed", seconds{15})) << json::print(status());
  EXPECT_TRUE(get(kube::kServices, "web-target").is_null());
}

}  // namespace
}  // namespace slipway::rollout_test

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

}  // namespace
}  // namespace slipway::rollout_test

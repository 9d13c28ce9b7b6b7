// What a batch costs the server: writes of the rollout's own status, of its workloads and of weights.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

class Writes : public RolloutTest {
 public:
  void two_versions(std::int64_t pods, const std::string& ready_after = "2s") {
    deployment("web-v1", pods);
    deployment("web-v2", 0, {"web:2", "slipway.dev/ready-after: " + ready_after});
    web_.replies = {{200, R"({"value": 1})"}};
    advance(seconds{10});
    ASSERT_EQ(ready_pods(), pods);
  }
  /// A gate that is asked every ten seconds, and passes after so many good answers; 0: never.
  static std::string gate(const char* at, int count) {
    return fmt::format(
        "gates: [{{name: ask, at: {}, metric: {{provider: web, address: 'http://gate/', settings: {{jsonPath: '{{$.value}}'}}, "
        "min: 1, interval: 10s{}}}}}]",
        at, count == 0 ? "" : fmt::format(", count: {}", count));
  }
  /// Counts from now on, while until() runs.
  void count() {
    always_ = [this]() -> std::string {
      look("standard.oam.dev/v1alpha1", "RolloutTrait", "r", statuses_);
      look("apps/v1", "Deployment", "web-v1", workloads_);
      look("apps/v1", "Deployment", "web-v2", workloads_);
      look("networking.k8s.io/v1", "Ingress", "web-canary", weights_);
      return "";
    };
    always_();
    statuses_ = workloads_ = weights_ = 0;
  }

 protected:
  std::int64_t statuses_ = 0, workloads_ = 0, weights_ = 0;

 private:
  /// The status counts of rollouts; of the others what is asked for, not what their controllers report.
  void look(std::string_view api_version, std::string_view kind, std::string_view name, std::int64_t& writes) {
    Value now = peek(api_version, kind, name);
    now = kind == "RolloutTrait" ? Value(now["status"])
                                 : json::object({{"spec", now["spec"]}, {"annotations", now["metadata"]["annotations"]}})
                                       .without_path({"annotations", "deployment.kubernetes.io/revision"});
    const auto known = seen_.find(name);
    if (known == seen_.end() || known->second != now) ++writes;
    seen_.insert_or_assign(std::string(name), now);
  }

  std::map<std::string, Value, std::less<>> seen_;
};

TEST_F(Writes, of_ten_pods_in_five_batches) {
  two_versions(10);
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  count();
  until_state("rolloutSucceed");
  EXPECT_LE(statuses_, 2 * 5 + 3) << "the claim, the release, the end";
  EXPECT_LE(workloads_, 2 * 5 + 4) << "claims and releases";
}

TEST_F(Writes, of_a_batch_per_minute_with_a_gate_that_is_asked_all_the_time) {
  two_versions(8);
  std::string batches;
  for (int i = 0; i < 8; ++i) batches += fmt::format("{}{{replicas: 1, instanceInterval: 60}}", i == 0 ? "" : ", ");
  rollout("web-v2", {"web-v1"}, fmt::format("{{rolloutBatches: [{}], {}}}", batches, gate("throughout", 0)));
  until_batch(1, "batchInRolling");
  const std::size_t asked = web_.calls.size();
  count();
  until_batch(6, "batchInRolling");
  EXPECT_EQ(workloads_, 2 * 5);
  EXPECT_LE(statuses_, 2 * 5);
  EXPECT_GE(web_.calls.size() - asked, 5 * 5U);
}

TEST_F(Writes, of_batches_whose_pods_take_their_time) {
  two_versions(10, "50s");
  rollout("web-v2", {"web-v1"}, "{numBatches: 5}");
  until_batch(0, "batchInRolling");
  count();
  until_batch(4, "batchInRolling");
  EXPECT_EQ(workloads_, 2 * 4);
  EXPECT_LE(statuses_, 2 * 4);
}

TEST_F(Writes, of_batches_that_a_gate_judges_at_once) {
  two_versions(10);
  rollout("web-v2", {"web-v1"}, fmt::format("{{numBatches: 5, {}}}", gate("after", 1)));
  until_batch(0, "batchInRolling");
  count();
  until_batch(4, "batchInRolling");
  EXPECT_LE(statuses_, 2 * 4);
}

/// Who looks meanwhile is told once what it waits for, not how often the gate was asked.
TEST_F(Writes, of_batches_that_a_gate_judges_for_a_minute) {
  two_versions(10);
  rollout("web-v2", {"web-v1"}, fmt::format("{{numBatches: 5, {}}}", gate("after", 6)));
  until_batch(0, "batchInRolling");
  count();
  until_batch(4, "batchInRolling");
  EXPECT_LE(statuses_, 3 * 4);
}

TEST_F(Writes, of_batches_with_traffic) {
  two_versions(8);
  apply("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}");
  apply(
      "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: nginx, rules: [{host: "
      "web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}");
  rollout("web-v2", {"web-v1"},
          "{numBatches: 4, traffic: {provider: nginx, ingressRef: {name: web}, service: web, sourceService: web}}");
  until_batch(0, "batchInRolling");
  count();
  until_batch(3, "batchInRolling");
  EXPECT_EQ(workloads_, 2 * 3);
  EXPECT_EQ(weights_, 3);
  EXPECT_LE(statuses_, 3 * 3) << "the weight is told with what follows it, the drain of 30 s once";
}

}  // namespace
}  // namespace slipway::rollout_test

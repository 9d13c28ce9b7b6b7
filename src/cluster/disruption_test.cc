#include "client/client.h"
#include "cluster/disruption_plan.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

const Time kBudgetTime{seconds{1'000'000'000}};

struct BudgetRow {
  const char* spec;
  int ready;
  int not_ready;
  int wanted;
  const char* expected;  // healthy/desired of expected: allowed
};

Value pod(const std::string& name, bool is_ready) {
  return json::parse_yaml(
             fmt::format("{{metadata: {{name: {}, labels: {{app: x}}}}, status: {{conditions: [{{type: Ready, status: "
                         "'{}'}}]}}}}",
                         name, is_ready ? "True" : "False"))
      .value();
}

Value budget(const std::string& spec, const std::string& status = "") {
  return json::parse_yaml(fmt::format("{{metadata: {{name: p, generation: 3}}, spec: {{{}}}, status: {{{}}}}}", spec, status))
      .value();
}

std::string budget_picture(const Value& status) {
  return fmt::format("{}/{} of {}: {} {}", status["currentHealthy"].as_int(), status["desiredHealthy"].as_int(),
                     status["expectedPods"].as_int(), status["disruptionsAllowed"].as_int(),
                     status["conditions"].item(0)["reason"].as_string());
}

TEST(DisruptionPlan, counts_what_may_go) {
  const BudgetRow rows[] = {{"minAvailable: 3", 5, 0, 0, "5/3 of 5: 2 SufficientPods"},
                            {"minAvailable: 7", 5, 0, 0, "5/7 of 5: 0 InsufficientPods"},
                            {"minAvailable: 50%", 5, 0, 5, "5/3 of 5: 2 SufficientPods"},
                            {"minAvailable: 50%", 4, 0, 3, "4/2 of 3: 2 SufficientPods"},  // shrinks: the pods are fewer soon
                            {"maxUnavailable: 30%", 5, 0, 5, "5/3 of 5: 2 SufficientPods"},
                            {"maxUnavailable: 1", 2, 1, 3, "2/2 of 3: 0 InsufficientPods"},
                            {"maxUnavailable: 9", 2, 0, 2, "2/0 of 2: 2 SufficientPods"},
                            {"maxUnavailable: 1", 2, 0, 0, "2/0 of 0: 0 InsufficientPods"},  // pods without a controller
                            {"minAvailable: 0", 0, 0, 0, "0/0 of 0: 0 InsufficientPods"},
                            {"selector: {}", 2, 0, 0, "2/0 of 0: 0 InsufficientPods"}};
  for (const BudgetRow& row : rows) {
    std::vector<Value> pods;
    pods.reserve(static_cast<std::size_t>(row.ready + row.not_ready));
    for (int i = 0; i < row.ready + row.not_ready; ++i) pods.push_back(pod(fmt::format("p{}", i), i < row.ready));
    const Value status = plan_disruption(budget(row.spec), pods, row.wanted, kBudgetTime).status;
    EXPECT_EQ(budget_picture(status), row.expected) << row.spec;
    EXPECT_EQ(status["observedGeneration"].as_int(), 3);
    EXPECT_EQ(status["conditions"].item(0)["observedGeneration"].as_int(), 3);
    EXPECT_EQ(plan_disruption(budget(row.spec).with("status", status), pods, row.wanted, kBudgetTime + seconds{9}).status,
              status);
  }
}

TEST(DisruptionPlan, takes_an_evicted_pod_for_gone_for_two_minutes) {
  const std::string granted =
      fmt::format("disruptedPods: {{p0: '{}', other: '{}'}}", to_rfc3339(kBudgetTime), to_rfc3339(kBudgetTime));
  const std::vector<Value> pods{pod("p0", true), pod("p1", true)};
  const auto at = [&](Duration after) {
    return plan_disruption(budget("minAvailable: 1", granted), pods, 0, kBudgetTime + after);
  };
  EXPECT_EQ(budget_picture(at(seconds{119}).status), "1/1 of 2: 0 InsufficientPods");
  EXPECT_EQ(at(seconds{119}).look_again, seconds{1});
  EXPECT_TRUE(at(seconds{119}).status["disruptedPods"].has("p0"));
  EXPECT_FALSE(at(seconds{119}).status["disruptedPods"].has("other"));
  EXPECT_EQ(budget_picture(at(seconds{120}).status), "2/1 of 2: 1 SufficientPods");
  EXPECT_FALSE(at(seconds{120}).status.has("disruptedPods"));
}

class Budgets : public ClusterTest {
 protected:
  void SetUp() override { start(); }
  void make_budget(const std::string& spec) {
    make(kBudgets, fmt::format("{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: p, namespace: default}}, "
                               "spec: {{selector: {{matchLabels: {{app: x}}}}, {}}}}}",
                               spec));
    settle();
  }
  void make_deployment(int replicas, const std::string& ready_after = "0s") {
    make(kDeployments, fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: {}
  selector: {{matchLabels: {{app: x}}}}
  template:
    metadata: {{labels: {{app: x}}, annotations: {{slipway.dev/ready-after: {}}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
)",
                                   replicas, ready_after));
    settle();
  }
  Value status() { return get(kBudgets, "p")["status"]; }
  /// 201, or the code of the refusal.
  int evict(const std::string& pod) {
    client::Request request;
    request.verb = client::Verb::Create;
    request.resource = kPods;
    request.ns = "default";
    request.name = pod;
    request.subresource = "eviction";
    request.body = json::parse_yaml("{apiVersion: policy/v1, kind: Eviction}").value();
    const auto done = env_.run(server_->call(std::move(request)));
    return done ? done->code : http_code(done.error().reason);
  }
};

TEST_F(Budgets, let_go_what_they_allow_and_more_once_pods_are_ready_again) {
  make_deployment(5, "2s");
  advance(seconds{3});
  make_budget("minAvailable: 50%");
  EXPECT_EQ(budget_picture(status()), "5/3 of 5: 2 SufficientPods");
  std::vector<int> codes;
  for (const Value& one : list(kPods)) codes.push_back(evict(one["metadata"]["name"].str()));
  EXPECT_EQ(codes, (std::vector{201, 201, 429, 429, 429}));
  settle();
  EXPECT_EQ(budget_picture(status()), "3/3 of 5: 0 InsufficientPods");
  advance(seconds{3});
  EXPECT_EQ(budget_picture(status()), "5/3 of 5: 2 SufficientPods");
  EXPECT_FALSE(status().has("disruptedPods"));
  const auto before = revision();
  restart();
  EXPECT_EQ(revision(), before);
}

TEST_F(Budgets, follow_the_size_of_the_deployment) {
  make_budget("maxUnavailable: 50%");
  EXPECT_EQ(budget_picture(status()), "0/0 of 0: 0 InsufficientPods");
  make_deployment(4);
  EXPECT_EQ(budget_picture(status()), "4/2 of 4: 2 SufficientPods");
  patch(kDeployments, "web", R"({"spec": {"replicas": 7}})");
  settle();
  EXPECT_EQ(budget_picture(status()), "7/3 of 7: 4 SufficientPods");
}

const char* kPond = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ponds.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: ponds, kind: Pond}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

/// A pod of a custom kind, which may or may not have a /scale.
class CustomBudgets : public Budgets {
 protected:
  void make_pond(const std::string& subresources) {
    make(kDefinitions, kPond + subresources);
    advance(seconds{1});
    const Value pond =
        make({"example.com", "v1", "ponds"},
             "{apiVersion: example.com/v1, kind: Pond, metadata: {name: w, namespace: default}, spec: {size: 4}}");
    const Value owners = json::array({kube::owner_reference(pond)});
    const Value ours = json::parse_yaml(
                           "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, labels: {app: x}}, "
                           "spec: {containers: [{name: c, image: i}]}}")
                           .value();
    create(kPods, ours.with_path({"metadata", "ownerReferences"}, owners));
    settle();
  }
};

TEST_F(CustomBudgets, ask_a_custom_controller_for_its_scale) {
  make_pond("    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}\n");
  make_budget("maxUnavailable: 3");
  EXPECT_EQ(budget_picture(status()), "1/1 of 4: 0 InsufficientPods");
}

TEST_F(CustomBudgets, allow_nothing_where_the_controller_has_no_scale) {
  make_pond("");
  make_budget("maxUnavailable: 3");
  EXPECT_EQ(budget_picture(status()), "0/0 of 0: 0 SyncFailed");
  EXPECT_EQ(status()["conditions"].item(0)["message"].str(), "ponds.example.com does not implement the scale subresource");
  EXPECT_FALSE(status().has("observedGeneration"));
  EXPECT_EQ(evict("a"), 429);
}

}  // namespace
}  // namespace slipway::cluster

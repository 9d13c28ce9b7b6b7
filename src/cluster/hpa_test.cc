#include "cluster/hpa_plan.h"
#include "cluster/policy_explain.h"
#include "cluster/world_fixture.h"
#include "json/text_test.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

const Time kMetricTime{seconds{1'000'000'000}};
const Steady kMoment{seconds{10'000}};

MetricValues values(const std::string& metrics, Duration age = seconds{0}) {
  const Value object = json::object({{"metadata", json::object({{"creationTimestamp", to_rfc3339(kMetricTime - age)},
                                                                {"annotations", json::object({{kMetrics, metrics}})}})}});
  return metrics_at(object, kMetricTime).value();
}

/// `ready` pods that ask for 500m of cpu, and `unready` ones.
HpaView view(std::int64_t ready, std::int64_t unready, const std::string& metrics) {
  HpaView view{ready + unready, ready + unready, {}, values(metrics)};
  for (std::int64_t i = 0; i < ready + unready; ++i) {
    view.pods.push_back(
        yaml(fmt::format("{{metadata: {{name: p{}}}, spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "
                         "500m}}}}}}]}}, status: {{phase: Running, conditions: [{{type: Ready, status: '{}'}}]}}}}",
                         i, i < ready ? "True" : "False")));
  }
  return view;
}

struct ProposalCase {
  const char* metric;
  HpaView view;
  std::int64_t expected;  // -1: a fault
};

TEST(HpaReplicas, follow_the_ratio_of_metric_and_target) {
  const char* cpu = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}";
  const char* amount = "{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 250m}}}";
  const char* rate = "{type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: '10'}}}";
  const char* queue = "{type: External, external: {metric: {name: queue}, target: {type: Value, value: '30'}}}";
  const char* shared = "{type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: '30'}}}";
  const char* object =
      "{type: Object, object: {metric: {name: hits}, describedObject: {kind: Service, name: s}, target: {type: "
      "Value, value: '100'}}}";
  const std::vector<ProposalCase> cases{
      {cpu, view(4, 0, "cpu: 100%"), 8},       {cpu, view(4, 0, "cpu: 55%"), 4},  // within a tenth
      {cpu, view(4, 0, "cpu: 56%"), 5},        {cpu, view(4, 0, "cpu: 46%"), 4},      {cpu, view(4, 0, "cpu: 20%"), 2},
      {cpu, view(4, 0, "cpu: 500m"), 8},        // of 500m requested
      {cpu, view(4, 0, "cpu: 2000m/pods"), 8},  // 500m each
      {cpu, view(2, 2, "cpu: 150%"), 6},        // what is not ready counts as idle: 75 % of all
      {cpu, view(2, 2, "cpu: 105%"), 4},        // 52 % of all
      {cpu, view(0, 2, "cpu: 100%"), -1},      {cpu, view(4, 0, "memory: 10%"), -1},  {amount, view(4, 0, "cpu: 500m"), 8},
      {rate, view(3, 0, "rps: 25"), 8},        {rate, view(3, 1, "rps: 25"), 10},  // readiness counts for cpu only
      {queue, view(3, 0, "queue: 60"), 6},     {shared, view(3, 0, "queue: 200"), 7}, {shared, view(3, 0, "queue: 91"), 3},
      {object, view(3, 0, "hits: 150"), 5}};
  for (const ProposalCase& row : cases) {
    const auto proposed = propose_replicas(yaml(row.metric), row.view);
    EXPECT_EQ(proposed ? proposed->replicas : -1, row.expected) << row.metric << " of " << row.view.spec_replicas;
  }
}

TEST(HpaMetrics, follow_their_course) {
  const char* course = "cpu: 40%, 5m=180%, 20m=20%";
  EXPECT_EQ(values(course).at("cpu"), (ScriptedValue{40'000, true, false}));
  EXPECT_EQ(values(course, seconds{300}).at("cpu").millis, 180'000);
  EXPECT_EQ(values(course, seconds{9000}).at("cpu").millis, 20'000);
  EXPECT_TRUE(values("cpu: 5m=180%").empty()) << "not before its time";
  EXPECT_EQ(parse_metrics("cpu: much").error().message,
            "annotation slipway.dev/metrics: cpu: not a value such as 80%, 200m or 5m=900/pods: much");
}

Value autoscaler(const std::string& spec) {
  return yaml(
      fmt::format("{{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {{name: h, generation: 2}}, spec: "
                  "{{metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: "
                  "50}}}}}}], minReplicas: 2, maxReplicas: 20, {}}}}}",
                  spec));
}

/// "8 ScaleUpLimit" or "- ReadyForNewScale DesiredWithinRange" and so on: new size, reasons that matter.
std::string scale_picture(const HpaPlan& plan) {
  const Value made = json::object({{"status", plan.status}});
  std::string text = plan.resize ? std::to_string(*plan.resize) : "-";
  for (const char* type : {"AbleToScale", "ScalingActive", "ScalingLimited"}) {
    const Value& condition = kube::condition(made, type);
    if (!condition.is_null()) text += fmt::format(" {}", condition["reason"].as_string());
  }
  return text;
}

struct PlanCase {
  const char* name;
  const char* spec;
  std::int64_t size;
  const char* metrics;
  HpaHistory history;
  const char* expected;
};

TEST(HpaPlan, keeps_within_bounds_windows_and_policies) {
  const auto seen = [](Duration ago, std::int64_t count) { return HpaHistory{{{kMoment - ago, count}}, {}}; };
  const char* slow =
      "behavior: {scaleUp: {selectPolicy: Max, policies: [{type: Pods, value: 2, periodSeconds: 60}]}, scaleDown: "
      "{stabilizationWindowSeconds: 0, selectPolicy: Max, policies: [{type: Percent, value: 50, periodSeconds: 60}]}}";
  const char* off = "behavior: {scaleDown: {stabilizationWindowSeconds: 0, selectPolicy: Disabled}}";
  const char* careful =
      "behavior: {scaleUp: {stabilizationWindowSeconds: 60, selectPolicy: Max, policies: [{type: Percent, value: "
      "900, periodSeconds: 15}]}}";
  HpaHistory grew{{{kMoment - seconds{900}, 4}}, {{kMoment - seconds{30}, 2}}};
  HpaHistory grew_long_ago{{{kMoment - seconds{900}, 4}}, {{kMoment - seconds{90}, 2}}};
  const std::string limited = "SucceededRescale ValidMetricFound ";
  const std::vector<PlanCase> cases{
      {"grows", "x: 0", 4, "cpu: 80%", {}, "7 SucceededRescale ValidMetricFound DesiredWithinRange"},
      {"at most to the double", "x: 0", 4, "cpu: 200%", {}, "8 SucceededRescale ValidMetricFound ScaleUpLimit"},
      {"at most to the maximum", "x: 0", 15, "cpu: 100%", {}, "20 SucceededRescale ValidMetricFound TooManyReplicas"},
      {"stays for five minutes", "x: 0", 4, "cpu: 25%", seen(seconds{299}, 4),
       "- ScaleDownStabilized ValidMetricFound DesiredWithinRange"},
      {"shrinks after five minutes", "x: 0", 4, "cpu: 25%", seen(seconds{300}, 4),
       "2 SucceededRescale ValidMetricFound DesiredWithinRange"},
      {"not below the minimum", "x: 0", 4, "cpu: 5%", seen(seconds{300}, 4),
       "2 SucceededRescale ValidMetricFound TooFewReplicas"},
      {"too many before", "x: 0", 30, "cpu: 50%", {}, "20 SucceededRescale"},
      {"too few before", "x: 0", 1, "cpu: 50%", {}, "2 SucceededRescale"},
      {"switched off", "x: 0", 0, "cpu: 50%", {}, "- SucceededGetScale ScalingDisabled"},
      {"no metric", "x: 0", 4, "memory: 50%", {}, "- SucceededGetScale FailedGetResourceMetric"},
      {"two pods a minute", slow, 6, "cpu: 100%", seen(seconds{900}, 6), "8 SucceededRescale ValidMetricFound ScaleUpLimit"},
      {"they have come already", slow, 6, "cpu: 100%", grew, "- ReadyForNewScale ValidMetricFound ScaleUpLimit"},
      {"long ago", slow, 6, "cpu: 100%", grew_long_ago, "8 SucceededRescale ValidMetricFound ScaleUpLimit"},
      {"half a minute", slow, 8, "cpu: 10%", seen(seconds{1}, 8), "4 SucceededRescale ValidMetricFound ScaleDownLimit"},
      {"never down", off, 8, "cpu: 10%", seen(seconds{1}, 8), "- ReadyForNewScale ValidMetricFound ScaleDownLimit"},
      {"grows no faster than a minute agreed", careful, 4, "cpu: 100%", seen(seconds{30}, 5),
       "5 SucceededRescale ValidMetricFound DesiredWithinRange"}};
  for (const PlanCase& row : cases) {
    const HpaPlan plan =
        plan_autoscaler(autoscaler(row.spec), view(row.size, 0, row.metrics), row.history, kMetricTime, kMoment);
    EXPECT_EQ(scale_picture(plan), row.expected) << row.name;
  }
}

class Autoscalers : public ClusterTest {
 protected:
  void SetUp() override {
    start();
    make(kDeployments, R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}
)");
    settle();
  }
  void make_autoscaler(const std::string& metrics, const std::string& target = "web") {
    make(kHpas,
         fmt::format("{{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {{name: h, namespace: default, "
                     "annotations: {{slipway.dev/metrics: '{}'}}}}, spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: "
                     "Deployment, name: {}}}, minReplicas: 1, maxReplicas: 10, metrics: [{{type: Resource, resource: {{name: "
                     "cpu, target: {{type: Utilization, averageUtilization: 50}}}}}}]}}}}",
                     metrics, target));
    settle();
  }
  std::int64_t size() { return get(kDeployments, "web")["spec"]["replicas"].as_int(); }
  std::string reason(const char* type) { return kube::condition(get(kHpas, "h"), type)["reason"].str(); }

  const kube::Resource kHpas{"autoscaling", "v2", "horizontalpodautoscalers"};
};

TEST_F(Autoscalers, follow_a_load_up_at_once_and_down_after_five_minutes) {
  make_autoscaler("cpu: 2000m/pods, 2m=500m/pods");
  EXPECT_EQ(size(), 4);
  advance(seconds{15});
  EXPECT_EQ(size(), 8);
  advance(seconds{100});
  EXPECT_EQ(size(), 8) << "2000m of load on 8 pods of 500m each are 50 %";
  EXPECT_EQ(get(kHpas, "h")["status"]["currentMetrics"].item(0)["resource"]["current"],
            yaml("{averageUtilization: 50, averageValue: 250m}"));
  advance(seconds{200});
  EXPECT_EQ(size(), 8);
  EXPECT_EQ(reason("AbleToScale"), "ScaleDownStabilized");
  advance(seconds{150});
  EXPECT_EQ(size(), 2);
  const auto before = revision();
  advance(seconds{60});
  EXPECT_LE(revision(), before + 1) << "nothing is written while nothing changes";
}

TEST_F(Autoscalers, take_their_metrics_from_the_target_when_they_have_none) {
  make_autoscaler("");
  EXPECT_EQ(size(), 2);
  EXPECT_EQ(reason("ScalingActive"), "FailedGetResourceMetric");
  patch(kDeployments, "web", R"({"metadata": {"annotations": {"slipway.dev/metrics": "cpu: 100%"}}})");
  advance(seconds{16});
  EXPECT_EQ(size(), 4);
}

TEST_F(Autoscalers, say_that_there_is_no_target) {
  make_autoscaler("cpu: 100%", "other");
  EXPECT_EQ(reason("AbleToScale"), "FailedGetScale");
  EXPECT_EQ(kube::condition(get(kHpas, "h"), "AbleToScale")["message"].str(),
            "the HPA controller was unable to get the target's current scale: deployments.apps \"other\" not found");
}

class NoObjects : public control::View {
 public:
  Value find(const Value&) const override { return {}; }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return kMetricTime; }
};

std::string why(const std::string& object) {
  std::string text;
  for (const auto& told : control::explain(policy_explain_rows(), yaml(object), "", NoObjects())) {
    text += told.wait.reason + ": " + told.wait.message;
  }
  return text;
}

TEST(PolicyExplain, says_why_nothing_may_go_and_why_nothing_is_scaled) {
  const std::string budget = "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, generation: 1}, status: ";
  const std::string refused = "observedGeneration: 1, conditions: [{type: DisruptionAllowed, status: 'False', reason: ";
  EXPECT_EQ(
      why(budget + "{" + refused + "InsufficientPods}], expectedPods: 3, desiredHealthy: 3, currentHealthy: 3}}"),
      "InsufficientPods: it wants 3 healthy pods of 3: no pod may ever be evicted; lower minAvailable or raise maxUnavailable");
  EXPECT_EQ(why(budget + "{" + refused + "InsufficientPods}], expectedPods: 3, desiredHealthy: 2, currentHealthy: 2}}"),
            "InsufficientPods: it needs 2 healthy pods and has 2: pods have to become ready first");
  EXPECT_EQ(why(budget + "{conditions: [{type: DisruptionAllowed, status: 'False', reason: SyncFailed, message: no scale}]}}"),
            "SyncFailed: no scale");
  EXPECT_EQ(why(budget + "{observedGeneration: 1, conditions: [{type: DisruptionAllowed, status: 'True'}]}}"), "");
  EXPECT_EQ(why("{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, status: {conditions: [{type: "
                "ScalingActive, status: 'False', reason: FailedGetResourceMetric, message: no value}]}}"),
            "FailedGetResourceMetric: no value");
}

}  // namespace
}  // namespace slipway::cluster

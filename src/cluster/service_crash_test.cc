// A Service with its endpoints, a budget and an autoscaler: Slipway dies after every so many steps, starts again, and ends
// alike.
#include "cluster/endpoint_slices.h"
#include "cluster/endpoints.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

struct Made {
  kube::Resource resource;
  std::string yaml;
};

const kube::Resource kAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};

class ServiceCrashes : public ClusterTest {
 protected:
  /// What must not depend on crashes: no times, names or revisions.
  std::string picture() {
    std::string text;
    for (const json::Value& slice : list(kEndpointSlices)) {
      int ready = 0;
      for (const json::Value& endpoint : slice["endpoints"].items()) ready += endpoint["conditions"]["ready"].as_bool() ? 1 : 0;
      text += fmt::format("slice {} of {} ready\n", ready, slice["endpoints"].size());
    }
    for (const json::Value& one : list(kEndpoints)) {
      text += fmt::format("Endpoints {}\n", one["subsets"].item(0)["addresses"].size());
    }
    for (const json::Value& budget : list(kBudgets)) {
      text += fmt::format("budget {} of {}\n", budget["status"]["currentHealthy"].as_int(),
                          budget["status"]["desiredHealthy"].as_int());
    }
    for (const json::Value& hpa : list(kAutoscalers)) {
      text += fmt::format("autoscaler {} {}\n", hpa["status"]["desiredReplicas"].as_int(),
                          kube::condition(hpa, "AbleToScale")["reason"].as_string());
    }
    return text;
  }

  /// Crashes after `steps` steps, unless 400 s are over before. Gives whether it crashed.
  bool run(const std::vector<Made>& objects, std::uint64_t steps) {
    start();
    for (const Made& object : objects) make(object.resource, object.yaml);
    const std::uint64_t end = env_.queue().steps() + steps;
    const bool crashed = env_.run_until([&] { return env_.queue().steps() >= end; }, seconds{400});
    if (crashed) restart();
    advance(seconds{1000});
    return crashed;
  }
};

TEST_F(ServiceCrashes, change_nothing_of_the_end) {
  const std::vector<Made> objects{
      {kServices,
       "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: default}, spec: {selector: {app: x}, ports: "
       "[{port: 80}]}}"},
      {kBudgets,
       "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: default}, spec: "
       "{maxUnavailable: 25%, selector: {matchLabels: {app: x}}}}"},
      {kAutoscalers,
       "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: default, "
       "annotations: {slipway.dev/metrics: 'cpu: 1500m/pods'}}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: "
       "Deployment, name: web}, maxReplicas: 9, metrics: [{type: Resource, resource: {name: cpu, target: {type: "
       "Utilization, averageUtilization: 50}}}]}}"},
      {kDeployments, R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}, annotations: {slipway.dev/ready-after: 2s, slipway.dev/stop-after: 1s}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}
)"}};
  run(objects, 0);
  const std::string expected = picture();
  std::uint64_t points = 0;
  for (std::uint64_t steps = 1;; steps += 31 * thinning(), ++points) {
    stop();
    disk_.restore({});
    if (!run(objects, steps)) break;
    ASSERT_EQ(picture(), expected) << "crashed after step " << steps;
  }
  EXPECT_GT(points * thinning(), 10U);
}

}  // namespace
}  // namespace slipway::cluster

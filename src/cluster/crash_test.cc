// Dies after every number of steps of a run, starts again, and compares the end with that of the undisturbed run.
#include "cluster/endpoint_slices.h"
#include "cluster/endpoints.h"
#include "cluster/job_plan.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

struct Made {
  kube::Resource resource;
  std::string yaml;
};

const kube::Resource kAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};

class CrashTest : public ClusterTest {
 protected:
  /// What must not depend on crashes: no times, uids or revisions.
  std::string picture() {
    std::string text;
    for (const json::Value& job : list(kJobs)) {
      const json::Value& status = job["status"];
      text += fmt::format("Job {} succeeded={} failed={} complete={} indexes={} uncounted={}\n", kube::name(job),
                          status["succeeded"].as_int(), status["failed"].as_int(), kube::is_true(job, "Complete"),
                          status["completedIndexes"].as_string(), status["uncountedTerminatedPods"].size());
    }
    std::map<std::string, int> pods;
    for (const json::Value& pod : list(kPods)) {
      ++pods[fmt::format("pod {} finalizers={}", pod["status"]["phase"].as_string(), pod["metadata"]["finalizers"].size())];
    }
    text += picture_of_services();
    for (const auto& [line, count] : pods) text += fmt::format("{} x {}\n", count, line);
    return text;
  }

  std::string picture_of_services() {
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

  /// Crashes after `steps` steps, unless everything is over before. Gives whether it crashed.
  bool run(const std::vector<Made>& objects, std::uint64_t steps) {
    start();
    for (const Made& object : objects) make(object.resource, object.yaml);
    const std::uint64_t end = env_.queue().steps() + steps;
    const bool crashed = env_.run_until([&] { return env_.queue().steps() >= end; }, seconds{400});
    if (crashed) restart();
    advance(seconds{2000});
    return crashed;
  }

  void check(const std::string& job, std::uint64_t stride) { check(std::vector<Made>{{kJobs, job}}, stride); }
  void check(const std::vector<Made>& objects, std::uint64_t stride) {
    run(objects, 0);
    const std::string expected = picture();
    std::uint64_t points = 0;
    for (std::uint64_t steps = 1;; steps += stride) {
      stop();
      disk_.restore({});
      if (!run(objects, steps)) break;
      ++points;
      ASSERT_EQ(picture(), expected) << "crashed after step " << steps;
    }
    std::cout << points << " crash points\n";
    EXPECT_GT(points, 10U);
  }
};

TEST_F(CrashTest, a_retried_job_ends_alike_wherever_it_is_cut) {
  check(job_yaml("work", "", "slipway.dev/run-time: 3s, slipway.dev/exit-code: '1,0'"), 2);
}

TEST_F(CrashTest, an_indexed_job_ends_alike_wherever_it_is_cut) {
  check(job_yaml("work", "  completionMode: Indexed\n  completions: 3\n  parallelism: 2\n", "slipway.dev/run-time: 3s"), 5);
}

TEST_F(CrashTest, a_failing_job_ends_alike_wherever_it_is_cut) {
  check(job_yaml("work", "  backoffLimit: 1\n  completions: 2\n  parallelism: 2\n",
                 "slipway.dev/run-time: 3s, slipway.dev/exit-code: '1'"),
        5);
}

TEST_F(CrashTest, endpoints_budget_and_autoscaler_of_a_service_end_alike_wherever_they_are_cut) {
  check({{kServices,
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
)"}},
        31);
}

}  // namespace
}  // namespace slipway::cluster

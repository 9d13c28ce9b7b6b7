// Dies after every number of steps of a run, starts again, and compares the end with that of the undisturbed run.
#include "cluster/advanced_statefulset.h"
#include "cluster/clone_set_facts.h"
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
    for (const kube::Resource& resource : {kCloneSets, kAdvancedStatefulSets}) {
      for (const json::Value& set : list(resource)) text += fmt::format("set {}\n", set_picture(set));
    }
    std::map<std::string, int> pods;
    for (const json::Value& set : list(kStatefulSets)) text += set_line(set);
    for (const json::Value& set : list(kDaemonSets)) text += set_line(set);
    for (const json::Value& revision : list(kControllerRevisions)) {
      text += fmt::format("revision {}\n", revision["revision"].as_int());
    }
    for (const json::Value& claim : list(kClaims)) text += fmt::format("claim {}\n", kube::name(claim));
    for (const json::Value& pod : list(kPods)) {
      ++pods[fmt::format("pod {} finalizers={} image={}", pod["status"]["phase"].as_string(),
                         pod["metadata"]["finalizers"].size(), pod["spec"]["containers"].item(0)["image"].as_string())];
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

  static std::string set_picture(const json::Value& set) {
    const json::Value& status = set["status"];
    return fmt::format("replicas={} available={} updated={}/{} condition={}", status["replicas"].as_int(),
                       status["availableReplicas"].as_int(), status["updatedAvailableReplicas"].as_int(),
                       status["expectedUpdatedReplicas"].as_int(), status["conditions"].size());
  }

  static std::string set_line(const json::Value& set) {
    json::Value status = set["status"];
    for (const char* key : {"currentRevision", "updateRevision"}) status = status.without(key);
    return fmt::format("{} {}\n", kube::name(set), json::print(status));
  }

  /// Crashes after `steps` steps, unless the work has ended before. Gives whether it crashed.
  bool run(const std::function<void()>& work, std::uint64_t steps) {
    start();
    work();
    const std::uint64_t end = env_.queue().steps() + steps;
    const bool crashed = env_.run_until([&] { return env_.queue().steps() >= end; }, seconds{400});
    if (crashed) restart();
    advance(horizon_);
    return crashed;
  }

  void check(const std::string& object, std::uint64_t stride) {
    check(
        [this, object] {
          make(resource_, object);
          if (then_.empty()) return;
          advance(seconds{20});
          patch(resource_, "work", then_);
        },
        stride);
  }
  void check(const std::vector<Made>& objects, std::uint64_t stride) {
    check(
        [this, &objects] {
          for (const Made& object : objects) make(object.resource, object.yaml);
        },
        stride);
  }

  void check(const std::function<void()>& work, std::uint64_t stride) {
    run(work, 0);
    const std::string expected = picture();
    std::uint64_t points = 0;
    for (std::uint64_t steps = 1;; steps += stride) {
      stop();
      disk_.restore({});
      if (!run(work, steps)) break;
      ++points;
      ASSERT_EQ(picture(), expected) << "crashed after step " << steps;
    }
    std::cout << points << " crash points\n";
    EXPECT_GT(points, 10U);
  }

  kube::Resource resource_ = kJobs;
  Duration horizon_ = seconds{2000};  // all has ended by then
  std::string then_{};                // merge patch once all is quiet; what follows is cut
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

/// A set that is updated from v1 to v2, where `update` is its updateStrategy.
constexpr const char* kCloneSet = R"({{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet,
metadata: {{name: web, namespace: default}}, spec: {{replicas: 3, updateStrategy: {{{}}}, selector: {{matchLabels: {{app: web}}}},
  template: {{metadata: {{labels: {{app: web}}, annotations: {{slipway.dev/ready-after: 3s}}}},
  spec: {{containers: [{{name: c, image: v1}}]}}}}}}}})";

TEST_F(CrashTest, an_updated_clone_set_ends_alike_wherever_it_is_cut) {
  for (const char* update :
       {"partition: 1, maxUnavailable: 1", "type: InPlaceIfPossible, maxUnavailable: 2", "maxUnavailable: 0, maxSurge: 1"}) {
    stop();
    disk_.restore({});
    check(
        [this, update] {
          make(kCloneSets, fmt::format(kCloneSet, update));
          advance(seconds{20});
          patch(kCloneSets, "web", R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "v2"}]}}}})");
        },
        29);
  }
}

TEST_F(CrashTest, an_updated_advanced_stateful_set_ends_alike_wherever_it_is_cut) {
  check(
      [this] {
        make(kAdvancedStatefulSets, R"({apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet,
metadata: {name: web, namespace: default}, spec: {replicas: 3, podManagementPolicy: Parallel, serviceName: web,
  updateStrategy: {rollingUpdate: {maxUnavailable: 2, partition: 1, podUpdatePolicy: InPlaceIfPossible}},
  selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web},
  annotations: {slipway.dev/ready-after: 3s}}, spec: {containers: [{name: c, image: v1}]}}}})");
        advance(seconds{20});
        patch(kAdvancedStatefulSets, "web",
              R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "v2"}]}}}})");
      },
      13);
}

/// A set with a slow pod template; `spec` are further fields of its spec in flow style.
std::string set_yaml(const char* kind, const std::string& spec) {
  return fmt::format(R"({{apiVersion: apps/v1, kind: {}, metadata: {{name: work, namespace: default}}, spec: {{{}, selector:
  {{matchLabels: {{app: w}}}}, template: {{metadata: {{labels: {{app: w}}, annotations: {{slipway.dev/ready-after: 1s}}}},
  spec: {{containers: [{{name: c, image: v1}}]}}}}}}}})",
                     kind, spec);
}

constexpr const char* kNewImage = R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "v2"}]}}}})";

TEST_F(CrashTest, a_stateful_set_begins_alike_wherever_it_is_cut) {
  resource_ = kStatefulSets;
  horizon_ = seconds{60};
  check(set_yaml("StatefulSet",
                 "replicas: 2, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], "
                 "resources: {requests: {storage: 1Gi}}}}]"),
        11);
}

TEST_F(CrashTest, an_update_of_a_stateful_set_ends_alike_wherever_it_is_cut) {
  resource_ = kStatefulSets;
  horizon_ = seconds{60};
  then_ = kNewImage;
  check(set_yaml("StatefulSet", "replicas: 3, podManagementPolicy: Parallel"), 11);
}

TEST_F(CrashTest, an_update_of_a_daemon_set_ends_alike_wherever_it_is_cut) {
  resource_ = kDaemonSets;
  horizon_ = seconds{60};
  then_ = kNewImage;
  nodes_ = 3;
  check(set_yaml("DaemonSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}"), 11);
}

}  // namespace
}  // namespace slipway::cluster

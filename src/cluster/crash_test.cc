// Dies after every number of steps of a run, starts again, and compares the end with that of the undisturbed run.
#include "cluster/advanced_statefulset.h"
#include "cluster/clone_set_facts.h"
#include "cluster/job_plan.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

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
    for (const json::Value& set : list(kStatefulSets)) text += set_line(set);
    for (const kube::Resource& resource : {kDaemonSets, kCloneSets, kAdvancedStatefulSets}) {
      for (const json::Value& set : list(resource)) text += set_line(set);
    }
    for (const json::Value& revision : list(kControllerRevisions)) {
      text += fmt::format("revision {}\n", revision["revision"].as_int());
    }
    for (const json::Value& claim : list(kClaims)) text += fmt::format("claim {}\n", kube::name(claim));
    for (const json::Value& pod : list(kPods)) {
      ++pods[fmt::format("pod {} finalizers={}", pod["status"]["phase"].as_string(), pod["metadata"]["finalizers"].size())];
    }
    for (const auto& [line, count] : pods) text += fmt::format("{} x {}\n", count, line);
    return text;
  }

  static std::string set_line(const json::Value& set) {
    json::Value status = set["status"];
    for (const char* key : {"currentRevision", "updateRevision"}) status = status.without(key);
    return fmt::format("{} {}\n", kube::name(set), json::print(status));
  }

  /// Crashes after `steps` steps, unless the object has settled before. Gives whether it crashed.
  bool run(const std::string& object, std::uint64_t steps) {
    start();
    make(resource_, object);
    if (!then_.empty()) {
      advance(seconds{20});
      patch(resource_, "work", then_);
    }
    const std::uint64_t end = env_.queue().steps() + steps;
    const bool crashed = env_.run_until([&] { return env_.queue().steps() >= end; }, seconds{400});
    if (crashed) restart();
    advance(horizon_);
    return crashed;
  }

  void check(const std::string& object, std::uint64_t stride) {
    run(object, 0);
    const std::string expected = picture();
    std::uint64_t points = 0;
    for (std::uint64_t steps = 1;; steps += stride * thinning()) {
      stop();
      disk_.restore({});
      if (!run(object, steps)) break;
      ++points;
      ASSERT_EQ(picture(), expected) << "crashed after step " << steps;
    }
    std::cout << points << " crash points\n";
    EXPECT_GT(points * thinning(), 10U);
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

/// A set with a slow pod template; `spec` are further fields of its spec in flow style.
std::string set_yaml(const char* kind, const std::string& spec, const char* version = "apps/v1") {
  return fmt::format(R"({{apiVersion: {}, kind: {}, metadata: {{name: work, namespace: default}}, spec: {{{}, selector:
  {{matchLabels: {{app: w}}}}, template: {{metadata: {{labels: {{app: w}}, annotations: {{slipway.dev/ready-after: 1s}}}},
  spec: {{containers: [{{name: c, image: v1}}]}}}}}}}})",
                     version, kind, spec);
}

constexpr const char* kNewImage = R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "v2"}]}}}})";

TEST_F(CrashTest, a_stateful_set_begins_alike_wherever_it_is_cut) {
  resource_ = kStatefulSets;
  horizon_ = seconds{60};
  check(set_yaml("StatefulSet",
                 "replicas: 2, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], "
                 "resources: {requests: {storage: 1Gi}}}}]"),
        29);
}

TEST_F(CrashTest, an_update_of_a_stateful_set_ends_alike_wherever_it_is_cut) {
  resource_ = kStatefulSets;
  horizon_ = seconds{60};
  then_ = kNewImage;
  check(set_yaml("StatefulSet", "replicas: 3, podManagementPolicy: Parallel"), 29);
}

TEST_F(CrashTest, an_update_of_a_daemon_set_ends_alike_wherever_it_is_cut) {
  resource_ = kDaemonSets;
  horizon_ = seconds{60};
  then_ = kNewImage;
  nodes_ = 3;
  check(set_yaml("DaemonSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}"), 29);
}

TEST_F(CrashTest, an_update_of_a_clone_set_ends_alike_wherever_it_is_cut) {
  resource_ = kCloneSets;
  horizon_ = seconds{60};
  then_ = kNewImage;
  for (const char* update :
       {"partition: 1, maxUnavailable: 1", "type: InPlaceIfPossible, maxUnavailable: 2", "maxUnavailable: 0, maxSurge: 1"}) {
    stop();
    disk_.restore({});
    check(set_yaml("CloneSet", fmt::format("replicas: 3, updateStrategy: {{{}}}", update), "apps.kruise.io/v1alpha1"), 29);
  }
}

TEST_F(CrashTest, an_update_of_an_advanced_stateful_set_ends_alike_wherever_it_is_cut) {
  resource_ = kAdvancedStatefulSets;
  horizon_ = seconds{60};
  then_ = kNewImage;
  check(set_yaml("StatefulSet",
                 "replicas: 3, podManagementPolicy: Parallel, updateStrategy: {rollingUpdate: {maxUnavailable: 2, "
                 "partition: 1, podUpdatePolicy: InPlaceIfPossible}}",
                 "apps.kruise.io/v1beta1"),
        17);
}

}  // namespace
}  // namespace slipway::cluster

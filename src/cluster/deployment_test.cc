#include <set>

#include "cluster/deployment_facts.h"
#include "cluster/view_fixture.h"
#include "kube/well_known.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

using kube::kEvents;

/// A Deployment "web" with the image `image`; `spec` are further fields of its spec, `annotations` those of its pods, both in
/// flow style.
std::string web_deployment(const std::string& image, const std::string& spec, const std::string& annotations = "") {
  return fmt::format(R"({{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: default}},
spec: {{{}, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}, annotations: {{{}}}}},
  spec: {{containers: [{{name: c, image: "{}"}}]}}}}}}}})",
                     spec, annotations, image);
}

class DeploymentTest : public ClusterTest {
 protected:
  void SetUp() override { start(); }

  Value deployment() { return get(kDeployments, "web"); }
  void set_image(const std::string& image) {
    patch(kDeployments, "web",
          fmt::format(R"({{"spec": {{"template": {{"spec": {{"containers": [{{"name": "c", "image": "{}"}}]}}}}}}}})", image));
  }
  /// "replicas/updated/available"
  std::string counts() {
    const Value status = deployment()["status"];
    return fmt::format("{}/{}/{}", status["replicas"].as_int(), status["updatedReplicas"].as_int(),
                       status["availableReplicas"].as_int());
  }
  std::string progress() {
    const Value condition = kube::condition(deployment(), "Progressing");
    return fmt::format("{} {}", condition["status"].as_string(), condition["reason"].as_string());
  }
  /// "image=size@revision" of every ReplicaSet, sorted.
  std::string sets() {
    std::set<std::string> lines;
    for (const Value& set : list(kReplicaSets)) {
      lines.insert(fmt::format("{}={}@{}", set["spec"]["template"]["spec"]["containers"].item(0)["image"].as_string(),
                               set["spec"]["replicas"].as_int(), kube::annotation(set, kRevision)));
    }
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
    return text;
  }
  std::vector<Value> live_pods() {
    std::vector<Value> pods = list(kPods);
    std::erase_if(pods, [](const Value& pod) { return kube::is_deleting(pod); });
    return pods;
  }
  /// Moves time in small steps and holds the Deployment to its promises at each.
  void roll(Duration duration, std::size_t min_available, std::size_t max_pods) {
    for (Duration passed{0}; passed < duration; passed += std::chrono::milliseconds{100}) {
      advance(std::chrono::milliseconds{100});
      const auto pods = live_pods();
      std::size_t ready = 0;
      for (const Value& pod : pods) ready += kube::is_true(pod, "Ready");
      ASSERT_LE(pods.size(), max_pods);
      ASSERT_GE(ready, min_available);
    }
  }
};

TEST_F(DeploymentTest, brings_up_its_pods) {
  make(kDeployments, web_deployment("v1", "replicas: 3"));
  settle();
  EXPECT_EQ(counts(), "3/3/3");
  EXPECT_EQ(progress(), "True NewReplicaSetAvailable");
  EXPECT_TRUE(kube::is_true(deployment(), "Available"));
  EXPECT_EQ(sets(), "v1=3@1");
  EXPECT_EQ(kube::annotation(deployment(), kRevision), "1");
  EXPECT_EQ(deployment()["status"]["observedGeneration"], deployment()["metadata"]["generation"]);
  const Value pod = live_pods().at(0);
  EXPECT_FALSE(pod["status"]["podIP"].as_string().empty());
  EXPECT_EQ(pod["status"]["hostIP"].as_string(), "127.0.0.1");
  EXPECT_EQ(kube::label(pod, kTemplateHash), kube::label(list(kReplicaSets)[0], kTemplateHash));
  const kube::Revision before = revision();
  advance(seconds{3000});
  EXPECT_EQ(revision(), before) << "a Deployment that stands is left alone";
}

TEST_F(DeploymentTest, rolls_without_a_gap_and_is_undone) {
  make(kDeployments, web_deployment("v1", "replicas: 3, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}",
                                    "slipway.dev/ready-after: 5s"));
  advance(seconds{30});
  ASSERT_EQ(counts(), "3/3/3");
  set_image("v2");
  roll(seconds{40}, 3, 4);
  EXPECT_EQ(counts(), "3/3/3");
  EXPECT_EQ(sets(), "v1=0@1 v2=3@2");
  set_image("v1");
  roll(seconds{40}, 3, 4);
  EXPECT_EQ(sets(), "v1=3@3 v2=0@2");
  EXPECT_EQ(kube::annotation(deployment(), kRevision), "3");
  EXPECT_EQ(progress(), "True NewReplicaSetAvailable");
}

TEST_F(DeploymentTest, waits_for_min_ready_seconds) {
  make(kDeployments, web_deployment("v1", "replicas: 2, minReadySeconds: 20"));
  advance(seconds{10});
  EXPECT_EQ(counts(), "2/2/0");
  EXPECT_EQ(deployment()["status"]["readyReplicas"].as_int(), 2);
  advance(seconds{11});
  EXPECT_EQ(counts(), "2/2/2");
}

TEST_F(DeploymentTest, exceeds_its_progress_deadline_and_recovers_by_undo) {
  make(kDeployments, web_deployment("v1", "replicas: 3, progressDeadlineSeconds: 60", "slipway.dev/missing-images: 'v2'"));
  settle();
  set_image("v2");
  advance(seconds{59});
  EXPECT_EQ(progress(), "True ReplicaSetUpdated");
  advance(seconds{4});
  EXPECT_EQ(progress(), "False ProgressDeadlineExceeded");
  EXPECT_TRUE(kube::is_true(deployment(), "Available"));
  set_image("v1");
  advance(seconds{60});
  EXPECT_EQ(progress(), "True NewReplicaSetAvailable");
  EXPECT_EQ(counts(), "3/3/3");
}

TEST_F(DeploymentTest, rests_while_it_is_paused) {
  make(kDeployments, web_deployment("v1", "replicas: 2"));
  settle();
  patch(kDeployments, "web", R"({"spec": {"paused": true}})");
  set_image("v2");
  settle();
  EXPECT_EQ(progress(), "Unknown DeploymentPaused");
  EXPECT_EQ(sets(), "v1=2@1");
  patch(kDeployments, "web", R"({"spec": {"replicas": 4}})");
  settle();
  EXPECT_EQ(sets(), "v1=4@1");
  patch(kDeployments, "web", R"({"spec": {"paused": false}})");
  advance(seconds{60});
  EXPECT_EQ(sets(), "v1=0@1 v2=4@2");
  EXPECT_EQ(progress(), "True NewReplicaSetAvailable");
}

TEST_F(DeploymentTest, recreates_after_the_last_old_pod) {
  make(kDeployments, web_deployment("v1", "replicas: 2, strategy: {type: Recreate}"));
  settle();
  set_image("v2");
  advance(seconds{60});
  EXPECT_EQ(counts(), "2/2/2");
  EXPECT_EQ(sets(), "v1=0@1 v2=2@2");
}

TEST_F(DeploymentTest, keeps_as_many_revisions_as_asked) {
  make(kDeployments, web_deployment("v1", "replicas: 1, revisionHistoryLimit: 1"));
  advance(seconds{5});
  for (const char* image : {"v2", "v3", "v4"}) {
    set_image(image);
    advance(seconds{40});
  }
  EXPECT_EQ(sets(), "v3=0@3 v4=1@4");
}

TEST_F(DeploymentTest, replaces_a_deleted_pod_and_takes_everything_along_when_it_goes) {
  make(kDeployments, web_deployment("v1", "replicas: 2"));
  settle();
  remove(kPods, live_pods().at(0)["metadata"]["name"].str());
  advance(seconds{60});
  EXPECT_EQ(counts(), "2/2/2");
  remove(kDeployments, "web");
  advance(seconds{60});
  EXPECT_TRUE(list(kReplicaSets).empty());
  EXPECT_TRUE(list(kPods).empty());
}

TEST_F(DeploymentTest, goes_on_after_a_restart) {
  make(kDeployments, web_deployment("v1", "replicas: 2", "slipway.dev/ready-after: 10s"));
  advance(seconds{5});
  restart();
  advance(seconds{30});
  EXPECT_EQ(counts(), "2/2/2");
  EXPECT_EQ(list(kPods).size(), 2U);
}

TEST_F(DeploymentTest, says_down_to_the_image_why_it_waits) {
  make(kDeployments, web_deployment("v1", "replicas: 1, progressDeadlineSeconds: 60", "slipway.dev/missing-images: v1"));
  advance(seconds{5});
  const auto why = [&] {
    std::vector<Value> objects;
    for (const kube::Resource& resource : {kReplicaSets, kPods}) {
      const char* kind = resource == kPods ? "Pod" : "ReplicaSet";
      const char* version = resource == kPods ? "v1" : "apps/v1";
      for (const Value& item : list(resource)) objects.push_back(item.with("kind", kind).with("apiVersion", version));
    }
    const TestView view(objects, env_.clock().now());
    std::string reasons;
    const control::Explanation* step = nullptr;
    const auto chain = control::explain(explain_rows(), deployment(), "", view);
    for (const auto* next = &chain; !next->empty(); next = &step->because) {
      step = &next->front();
      reasons += (reasons.empty() ? "" : " > ") + step->wait.reason;
    }
    return reasons;
  };
  EXPECT_EQ(why(), "ReplicaSetUpdating > PodNotReady > ImagePullBackOff");
  advance(seconds{90});
  EXPECT_EQ(why(), "ProgressDeadlineExceeded > PodNotReady > ImagePullBackOff");
  patch(kDeployments, "web", R"({"spec": {"paused": true}})");
  settle();
  EXPECT_EQ(why(), "DeploymentPaused");
  patch(kDeployments, "web", R"({"spec": {"paused": false}})");
  set_image("v2");
  advance(seconds{60});
  EXPECT_EQ(why(), "");
}

TEST_F(DeploymentTest, tells_what_scaled) {
  make(kDeployments, web_deployment("v1", "replicas: 2"));
  settle();
  std::string messages;
  for (const Value& event : list(kEvents)) {
    if (event["reason"].as_string() == "ScalingReplicaSet") messages += event["message"].str();
  }
  EXPECT_EQ(messages, fmt::format("Scaled up replica set {} from 0 to 2", kube::name(list(kReplicaSets)[0])));
}

TEST_F(DeploymentTest, lets_go_of_a_pod_whose_label_changes_and_takes_it_back) {
  make(kDeployments, web_deployment("v1", "replicas: 1"));
  settle();
  const std::string name = live_pods().at(0)["metadata"]["name"].str();
  patch(kPods, name, R"({"metadata": {"labels": {"app": "debug"}}})");
  settle();
  EXPECT_TRUE(kube::controller_of(get(kPods, name)).is_null());
  EXPECT_EQ(live_pods().size(), 2U);
  patch(kPods, name, R"({"metadata": {"labels": {"app": "web"}}})");
  advance(seconds{60});
  EXPECT_EQ(live_pods().size(), 1U);
}

TEST_F(DeploymentTest, crashing_pods_never_become_available) {
  make(kDeployments, web_deployment("v1", "replicas: 1", "slipway.dev/run-time: 2s, slipway.dev/exit-code: '1'"));
  advance(seconds{5});
  const Value pod = live_pods().at(0);
  EXPECT_EQ(pod["status"]["containerStatuses"].item(0)["state"]["waiting"]["reason"].as_string(), "CrashLoopBackOff");
  EXPECT_EQ(counts(), "1/1/0");
}

}  // namespace
}  // namespace slipway::cluster

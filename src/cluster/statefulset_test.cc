#include "cluster/controller_revision.h"
#include "cluster/explain.h"
#include "cluster/view_fixture.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A StatefulSet "web"; `spec` are further fields of its spec, `annotations` those of its pods, both in flow style.
std::string web(const std::string& image, const std::string& spec, const std::string& annotations = "") {
  return fmt::format(R"({{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: web, namespace: default}},
spec: {{{}, serviceName: x, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}},
  annotations: {{{}}}}}, spec: {{containers: [{{name: c, image: "{}"}}]}}}}}}}})",
                     spec, annotations, image);
}

constexpr const char* kSlow = "slipway.dev/ready-after: 1s";
constexpr const char* kClaim =
    "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
    "1Gi}}}}]";

class StatefulSetTest : public ViewTest {
 protected:
  void SetUp() override { start(); }

  void set_image(const std::string& image) {
    patch(kStatefulSets, "web",
          fmt::format(R"({{"spec": {{"template": {{"spec": {{"containers": [{{"name": "c", "image": "{}"}}]}}}}}}}})", image));
  }
  void scale(int replicas) { patch(kStatefulSets, "web", fmt::format(R"({{"spec": {{"replicas": {}}}}})", replicas)); }
  /// "web-0=v1 web-1=v2~": the pods with their images; ~ is being deleted, ? is not ready.
  std::string pods() {
    std::string text;
    for (const Value& pod : list(kPods)) {
      text += fmt::format("{}{}={}{}{}", text.empty() ? "" : " ", kube::name(pod),
                          pod["spec"]["containers"].item(0)["image"].as_string(), kube::is_true(pod, "Ready") ? "" : "?",
                          kube::is_deleting(pod) ? "~" : "");
    }
    return text;
  }
  std::string claims() {
    std::string text;
    for (const Value& claim : list(kClaims)) text += (text.empty() ? "" : " ") + std::string(kube::name(claim));
    return text;
  }
  /// "v1@1 v2@2": images and numbers of the revisions.
  std::string revisions() {
    std::set<std::string> lines;
    for (const Value& revision : list(kControllerRevisions)) {
      lines.insert(fmt::format("{}@{}", revision_template(revision)["spec"]["containers"].item(0)["image"].as_string(),
                               revision["revision"].as_int()));
    }
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
    return text;
  }
  Value status() { return get(kStatefulSets, "web")["status"]; }
};

TEST_F(StatefulSetTest, makes_pods_one_after_another_and_removes_them_from_the_top) {
  make(kStatefulSets, web("v1", "replicas: 3", kSlow));
  for (const char* expected :
       {"web-0=v1?", "web-0=v1 web-1=v1?", "web-0=v1 web-1=v1 web-2=v1?", "web-0=v1 web-1=v1 web-2=v1"}) {
    advance(milliseconds{500});
    EXPECT_EQ(pods(), expected);
    advance(milliseconds{500});
  }
  EXPECT_EQ(status()["availableReplicas"].as_int(), 3);
  scale(1);
  advance(seconds{1});
  EXPECT_EQ(pods(), "web-0=v1");
}

TEST_F(StatefulSetTest, makes_all_at_once_when_parallel) {
  make(kStatefulSets, web("v1", "replicas: 3, podManagementPolicy: Parallel, ordinals: {start: 4}", kSlow));
  advance(milliseconds{100});
  EXPECT_EQ(pods(), "web-4=v1? web-5=v1? web-6=v1?");
}

TEST_F(StatefulSetTest, gives_pods_a_name_an_ordinal_and_the_revision_as_labels) {
  make(kStatefulSets, web("v1", "replicas: 1"));
  advance(seconds{1});
  const Value pod = get(kPods, "web-0");
  EXPECT_EQ(kube::label(pod, "statefulset.kubernetes.io/pod-name"), "web-0");
  EXPECT_EQ(kube::label(pod, "apps.kubernetes.io/pod-index"), "0");
  EXPECT_EQ(kube::label(pod, "controller-revision-hash"), status()["currentRevision"].as_string());
  EXPECT_EQ(pod["spec"]["hostname"].as_string(), "web-0");
  EXPECT_EQ(pod["spec"]["subdomain"].as_string(), "x");
}

TEST_F(StatefulSetTest, updates_from_the_top_down_to_the_partition) {
  struct Row {
    const char* strategy;
    const char* pods;
    bool is_complete;
  };
  const Row rows[] = {
      {"{type: RollingUpdate}", "web-0=v2 web-1=v2 web-2=v2", true},
      {"{type: RollingUpdate, rollingUpdate: {partition: 2}}", "web-0=v1 web-1=v1 web-2=v2", false},
      {"{type: RollingUpdate, rollingUpdate: {partition: 7}}", "web-0=v1 web-1=v1 web-2=v1", false},
      {"{type: OnDelete}", "web-0=v1 web-1=v1 web-2=v1", false},
  };
  for (const Row& row : rows) {
    for (const char* policy : {"OrderedReady", "Parallel"}) {
      SCOPED_TRACE(fmt::format("{} {}", row.strategy, policy));
      make(kStatefulSets,
           web("v1", fmt::format("replicas: 3, podManagementPolicy: {}, updateStrategy: {}", policy, row.strategy), kSlow));
      advance(seconds{10});
      set_image("v2");
      for (int i = 0; i < 100; ++i) {
        advance(milliseconds{100});
        std::size_t ready = 0;
        for (const Value& pod : list(kPods)) ready += kube::is_true(pod, "Ready");
        ASSERT_GE(ready, 2U) << pods();
      }
      EXPECT_EQ(pods(), row.pods);
      EXPECT_EQ(status()["currentRevision"] == status()["updateRevision"], row.is_complete);
      remove(kStatefulSets, "web");
      advance(seconds{5});
    }
  }
}

TEST_F(StatefulSetTest, makes_a_pod_below_the_partition_of_the_old_template_again) {
  make(kStatefulSets, web("v1", "replicas: 2, updateStrategy: {rollingUpdate: {partition: 1}}"));
  advance(seconds{1});
  set_image("v2");
  advance(seconds{1});
  remove(kPods, "web-0");
  remove(kPods, "web-1");
  advance(seconds{1});
  EXPECT_EQ(pods(), "web-0=v1 web-1=v2");
}

TEST_F(StatefulSetTest, is_held_up_by_a_bad_pod_only_when_ordered) {
  for (const bool is_ordered : {true, false}) {
    make(kStatefulSets,
         web("v1", fmt::format("replicas: 2, podManagementPolicy: {}", is_ordered ? "OrderedReady" : "Parallel")));
    advance(seconds{1});
    patch(kStatefulSets, "web",
          R"({"spec": {"template": {"metadata": {"annotations": {"slipway.dev/missing-images": "bad"}},
              "spec": {"containers": [{"name": "c", "image": "bad"}]}}}})");
    advance(seconds{5});
    EXPECT_EQ(pods(), "web-0=v1 web-1=bad?");
    set_image("v2");
    advance(seconds{5});
    EXPECT_EQ(pods(), is_ordered ? "web-0=v1 web-1=bad?" : "web-0=v2 web-1=v2");
    if (is_ordered) {
      EXPECT_TRUE(why(kStatefulSets, "web").contains("pod web-1"));
      EXPECT_TRUE(why(kStatefulSets, "web").contains("delete it"));
      remove(kPods, "web-1");
      advance(seconds{5});
      EXPECT_EQ(pods(), "web-0=v2 web-1=v2");
    }
    EXPECT_EQ(why(kStatefulSets, "web"), "");
    remove(kStatefulSets, "web");
    advance(seconds{5});
  }
}

TEST_F(StatefulSetTest, a_template_that_comes_back_takes_its_revision_under_the_next_number) {
  make(kStatefulSets, web("v1", "replicas: 1, revisionHistoryLimit: 2"));
  advance(seconds{1});
  set_image("v2");
  advance(seconds{2});
  EXPECT_EQ(revisions(), "v1@1 v2@2");
  set_image("v1");
  advance(seconds{2});
  EXPECT_EQ(revisions(), "v1@3 v2@2");
  EXPECT_EQ(pods(), "web-0=v1");
  for (const char* image : {"v3", "v4", "v5"}) {
    set_image(image);
    advance(seconds{2});
  }
  EXPECT_EQ(revisions(), "v3@4 v4@5 v5@6");
}

TEST_F(StatefulSetTest, claims_stay_or_go_as_the_retention_policy_says) {
  struct Row {
    const char* scaled;
    const char* deleted;
    const char* after_scaling;
    const char* after_deletion;
  };
  const Row rows[] = {
      {"Retain", "Retain", "data-web-0 data-web-1", "data-web-0 data-web-1"},
      {"Delete", "Retain", "data-web-0", "data-web-0"},
      {"Retain", "Delete", "data-web-0 data-web-1", ""},
      {"Delete", "Delete", "data-web-0", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("scaled {} deleted {}", row.scaled, row.deleted));
    make(kStatefulSets, web("v1", fmt::format("replicas: 2, {}, persistentVolumeClaimRetentionPolicy: {{whenScaled: {}, "
                                              "whenDeleted: {}}}",
                                              kClaim, row.scaled, row.deleted)));
    advance(seconds{1});
    EXPECT_EQ(claims(), "data-web-0 data-web-1");
    EXPECT_EQ(get(kPods, "web-1")["spec"]["volumes"].item(0)["persistentVolumeClaim"]["claimName"].as_string(), "data-web-1");
    scale(1);
    advance(seconds{20});
    EXPECT_EQ(claims(), row.after_scaling);
    remove(kStatefulSets, "web");
    advance(seconds{20});
    EXPECT_EQ(claims(), row.after_deletion);
    for (const char* left : {"data-web-0", "data-web-1"}) {
      if (!get(kClaims, left).is_null()) remove(kClaims, left);
    }
    advance(seconds{20});
  }
}

TEST_F(StatefulSetTest, takes_the_next_pod_only_after_min_ready_seconds) {
  make(kStatefulSets, web("v1", "replicas: 2, minReadySeconds: 5"));
  advance(seconds{4});
  EXPECT_EQ(pods(), "web-0=v1");
  EXPECT_TRUE(why(kStatefulSets, "web").contains("PodNotYetAvailable"));
  advance(seconds{2});
  EXPECT_EQ(pods(), "web-0=v1 web-1=v1");
}

TEST_F(StatefulSetTest, waits_for_a_name_that_a_foreign_pod_has) {
  make(kPods,
       "{apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: default}, spec: {containers: [{name: c, image: i}]}}");
  make(kStatefulSets, web("v1", "replicas: 1"));
  advance(seconds{1});
  EXPECT_EQ(pods(), "web-0=i");
  EXPECT_TRUE(why(kStatefulSets, "web").contains("PodMissing"));
  remove(kPods, "web-0");
  advance(seconds{1});
  EXPECT_EQ(pods(), "web-0=v1");
}

}  // namespace
}  // namespace slipway::cluster

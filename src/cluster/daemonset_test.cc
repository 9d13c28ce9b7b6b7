#include "cluster/view_fixture.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A DaemonSet "dm"; `spec` are further fields of its spec, `pod` those of its pods' spec, both in flow style.
std::string dm(const std::string& image, const std::string& spec = "minReadySeconds: 0", const std::string& pod = "") {
  return fmt::format(R"({{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: dm, namespace: default}},
spec: {{{}, selector: {{matchLabels: {{app: dm}}}}, template: {{metadata: {{labels: {{app: dm}},
  annotations: {{slipway.dev/ready-after: 1s}}}}, spec: {{{}containers: [{{name: c, image: "{}"}}]}}}}}}}})",
                     spec, pod, image);
}

class DaemonSetTest : public ViewTest {
 protected:
  void SetUp() override {
    nodes_ = 4;
    start();
  }

  void set_image(const std::string& image) {
    patch(kDaemonSets, "dm",
          fmt::format(R"({{"spec": {{"template": {{"spec": {{"containers": [{{"name": "c", "image": "{}"}}]}}}}}}}})", image));
  }
  void patch_node(const std::string& name, const std::string& json) {
    const auto done = env_.run(client::merge_patch(*server_, kNodes, {"", name}, json::parse(json).value(), "test"));
    ASSERT_TRUE(done) << done.error().message;
  }
  /// "local=v1 local-2=v1": nodes with the images of their pods.
  std::string pods() {
    std::multiset<std::string> lines;
    for (const Value& pod : list(kPods)) {
      lines.insert(
          fmt::format("{}={}", pod["spec"]["nodeName"].as_string(), pod["spec"]["containers"].item(0)["image"].as_string()));
    }
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
    return text;
  }
  /// The fewest ready and the most live pods while `duration` passes.
  std::pair<std::size_t, std::size_t> roll(Duration duration) {
    std::size_t fewest = 1000;
    std::size_t most = 0;
    for (Duration passed{0}; passed < duration; passed += milliseconds{100}) {
      advance(milliseconds{100});
      std::size_t ready = 0;
      std::size_t live = 0;
      for (const Value& pod : list(kPods)) {
        live += !kube::is_deleting(pod);
        ready += kube::is_true(pod, "Ready") && !kube::is_deleting(pod);
      }
      fewest = std::min(fewest, ready);
      most = std::max(most, live);
    }
    return {fewest, most};
  }
};

constexpr const char* kAll = "local-2=v1 local-3=v1 local-4=v1 local=v1";

TEST_F(DaemonSetTest, has_a_pod_on_every_node_that_its_template_may_run_on) {
  struct Row {
    const char* pod;
    const char* pods;
  };
  const Row rows[] = {
      {"", kAll},
      {"nodeSelector: {kubernetes.io/hostname: local-3}, ", "local-3=v1"},
      {"nodeSelector: {disk: ssd}, ", ""},
      {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
       "[{key: kubernetes.io/hostname, operator: NotIn, values: [local, local-2]}]}]}}}, ",
       "local-3=v1 local-4=v1"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.pod);
    make(kDaemonSets, dm("v1", "minReadySeconds: 0", row.pod));
    advance(seconds{3});
    EXPECT_EQ(pods(), row.pods);
    EXPECT_EQ(why(kDaemonSets, "dm"), "");
    remove(kDaemonSets, "dm");
    advance(seconds{3});
  }
}

TEST_F(DaemonSetTest, heeds_taints_but_not_cordons) {
  patch_node("local", R"({"spec": {"unschedulable": true}})");
  patch_node("local-2", R"({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})");
  make(kDaemonSets, dm("v1"));
  advance(seconds{3});
  EXPECT_EQ(pods(), "local-3=v1 local-4=v1 local=v1");
  patch_node("local-2", R"({"spec": {"taints": null}})");
  advance(seconds{3});
  EXPECT_EQ(pods(), kAll);
  patch_node("local-2", R"({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})");
  advance(seconds{3});
  EXPECT_EQ(pods(), kAll) << "NoSchedule drives nobody away";
  EXPECT_EQ(get(kDaemonSets, "dm")["status"]["numberMisscheduled"].as_int(), 1);
  patch_node("local-2", R"({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}})");
  advance(seconds{3});
  EXPECT_EQ(pods(), "local-3=v1 local-4=v1 local=v1");
}

TEST_F(DaemonSetTest, follows_nodes_that_come_and_go) {
  make(kDaemonSets, dm("v1"));
  advance(seconds{3});
  Value node = get(kNodes, "local", "");
  node = node.with("metadata", json::object({{"name", "extra"}}));
  create(kNodes, node);
  advance(seconds{3});
  EXPECT_EQ(pods(), std::string("extra=v1 ") + kAll);
  remove(kNodes, "extra", "Background", "");
  advance(seconds{3});
  EXPECT_EQ(pods(), kAll);
}

TEST_F(DaemonSetTest, updates_within_its_bounds) {
  struct Row {
    const char* rolling;
    std::size_t fewest;
    std::size_t most;
  };
  const Row rows[] = {
      {"{maxUnavailable: 1}", 3, 4},
      {"{maxUnavailable: 2}", 2, 4},
      {"{maxUnavailable: 30%}", 2, 4},
      {"{maxUnavailable: 0, maxSurge: 1}", 4, 5},
      {"{maxUnavailable: 0, maxSurge: 50%}", 4, 6},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.rolling);
    make(kDaemonSets, dm("v1", fmt::format("updateStrategy: {{rollingUpdate: {}}}", row.rolling)));
    advance(seconds{5});
    set_image("v2");
    EXPECT_EQ(roll(seconds{20}), std::pair(row.fewest, row.most));
    EXPECT_EQ(pods(), "local-2=v2 local-3=v2 local-4=v2 local=v2");
    EXPECT_EQ(get(kDaemonSets, "dm")["status"]["updatedNumberScheduled"].as_int(), 4);
    remove(kDaemonSets, "dm");
    advance(seconds{3});
  }
}

TEST_F(DaemonSetTest, a_bad_template_stops_at_max_unavailable_and_a_good_one_goes_on) {
  make(kDaemonSets, dm("v1"));
  advance(seconds{5});
  patch(kDaemonSets, "dm", R"({"spec": {"template": {"metadata": {"annotations": {"slipway.dev/ready-after": "never"}}}}})");
  EXPECT_EQ(roll(seconds{20}).first, 3U);
  EXPECT_TRUE(why(kDaemonSets, "dm").contains("PodNotReady"));
  patch(kDaemonSets, "dm", R"({"spec": {"template": {"metadata": {"annotations": {"slipway.dev/ready-after": "2s"}}}}})");
  EXPECT_EQ(roll(seconds{20}).first, 3U);
  EXPECT_EQ(get(kDaemonSets, "dm")["status"]["numberAvailable"].as_int(), 4);
}

TEST_F(DaemonSetTest, leaves_old_pods_alone_until_they_are_deleted) {
  make(kDaemonSets, dm("v1", "updateStrategy: {type: OnDelete}"));
  advance(seconds{5});
  set_image("v2");
  advance(seconds{5});
  EXPECT_EQ(pods(), kAll);
  EXPECT_TRUE(why(kDaemonSets, "dm").contains("4 pods of an older template to be deleted"));
  for (const Value& pod : list(kPods)) {
    if (pod["spec"]["nodeName"].as_string() == "local") remove(kPods, std::string(kube::name(pod)));
  }
  advance(seconds{5});
  EXPECT_EQ(pods(), "local-2=v1 local-3=v1 local-4=v1 local=v2");
}

class Spread : public ClusterTest {};

TEST_F(Spread, goes_evenly_over_the_nodes_there_are) {
  nodes_ = 3;
  start();
  make(kReplicaSets, R"({apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default}, spec: {replicas: 7,
      selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}})");
  advance(seconds{1});
  std::map<std::string, int> counts;
  for (const Value& pod : list(kPods)) ++counts[pod["spec"]["nodeName"].str()];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"local", 3}, {"local-2", 2}, {"local-3", 2}}));
}

TEST_F(Spread, heeds_selectors_only_where_there_is_a_choice) {
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {nodeSelector: {disk: ssd}, containers: "
      "[{name: c, image: i}]}}";
  for (const std::size_t nodes : {1, 2}) {
    stop();
    disk_.restore({});
    nodes_ = nodes;
    start();
    make(kPods, pod);
    advance(seconds{1});
    EXPECT_EQ(get(kPods, "p")["spec"]["nodeName"].as_string(), nodes == 1 ? "local" : "");
  }
  EXPECT_TRUE(kube::condition(get(kPods, "p"), "PodScheduled")["message"].as_string().contains(
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."));
}

}  // namespace
}  // namespace slipway::cluster

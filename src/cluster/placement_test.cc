#include "cluster/placement.h"

#include "cluster/world_fixture.h"
#include "json/text_test.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

std::string fault(const std::string& tolerations, const std::string& node) {
  const Value pod = yaml(fmt::format("{{spec: {{tolerations: {}}}}}", tolerations));
  return placement_fault(pod, std::array{NodeLoad{yaml(fmt::format("{{spec: {}}}", node))}}).value_or("");
}

TEST(Placement, heeds_taints_that_are_not_tolerated) {
  const std::string node = "{taints: [{key: a, value: b, effect: NoSchedule}]}";
  EXPECT_EQ(fault("[]", node),
            "0/1 nodes are available: 1 node(s) had untolerated taint {a: b}. preemption: 0/1 nodes are available: 1 "
            "Preemption is not helpful for scheduling.");
  for (const char* enough : {"[{operator: Exists}]", "[{key: a, operator: Exists}]", "[{key: a, value: b}]",
                             "[{key: a, operator: Equal, value: b, effect: NoSchedule}]"}) {
    EXPECT_EQ(fault(enough, node), "") << enough;
  }
  for (const char* other : {"[{key: c, operator: Exists}]", "[{key: a, value: c}]",
                            "[{key: a, operator: Exists, effect: "
                            "NoExecute}]"}) {
    EXPECT_NE(fault(other, node), "") << other;
  }
  EXPECT_EQ(fault("[]", "{taints: [{key: a, effect: PreferNoSchedule}]}"), "");
  EXPECT_NE(fault("[]", "{taints: [{key: a, effect: NoExecute}]}"), "");
}

TEST(Placement, heeds_a_cordon) {
  EXPECT_TRUE(fault("[]", "{unschedulable: true}").contains("1 node(s) were unschedulable."));
  EXPECT_EQ(fault("[{key: node.kubernetes.io/unschedulable, operator: Exists}]", "{unschedulable: true}"), "");
  EXPECT_EQ(placement_fault(Value::empty_object(), {}), "no nodes available to schedule pods");
}

class Cordon : public ClusterTest {
 protected:
  void SetUp() override { start(); }
  void patch_node(const std::string& json) {
    const auto done = env_.run(client::merge_patch(*server_, kNodes, {"", "local"}, json::parse(json).value(), "test"));
    ASSERT_TRUE(done) << done.error().message;
  }
  Value pod() { return get(kPods, "p"); }
  void make_pod() {
    make(kPods,
         "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: "
         "i}]}}");
    settle();
  }
};

TEST_F(Cordon, keeps_a_pod_pending_until_it_is_lifted) {
  patch_node(R"({"spec": {"unschedulable": true}})");
  make_pod();
  EXPECT_FALSE(pod()["spec"].has("nodeName"));
  EXPECT_EQ(pod()["status"]["phase"].as_string(), "Pending");
  EXPECT_EQ(kube::condition(pod(), "PodScheduled")["reason"].as_string(), "Unschedulable");
  EXPECT_TRUE(kube::condition(pod(), "PodScheduled")["message"].as_string().contains("were unschedulable"));
  patch_node(R"({"spec": {"unschedulable": false}})");
  advance(seconds{1});
  EXPECT_EQ(pod()["spec"]["nodeName"].as_string(), "local");
  EXPECT_EQ(pod()["status"]["phase"].as_string(), "Running");
  EXPECT_TRUE(kube::is_true(pod(), "PodScheduled"));
}

TEST_F(Cordon, a_taint_keeps_it_too_over_a_restart) {
  patch_node(R"({"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoExecute"}]}})");
  make_pod();
  restart();
  advance(seconds{60});
  EXPECT_TRUE(kube::condition(pod(), "PodScheduled")["message"].as_string().contains("untolerated taint {a: b}"));
  patch_node(R"({"spec": {"taints": null}})");
  advance(seconds{1});
  EXPECT_EQ(pod()["status"]["phase"].as_string(), "Running");
}

TEST_F(Cordon, a_pending_pod_goes_at_once_when_it_is_deleted) {
  patch_node(R"({"spec": {"unschedulable": true}})");
  make_pod();
  remove(kPods, "p");
  EXPECT_TRUE(pod().is_null());
}

TEST(Placement, counts_the_room_of_a_node_as_a_quantity) {
  const auto load = [](const char* room, std::int64_t pods) {
    return NodeLoad{yaml(fmt::format("{{status: {{allocatable: {{pods: {}}}}}}}", room)), pods};
  };
  const Value pod = Value::empty_object();
  EXPECT_EQ(placement_fault(pod, std::array{load("100k", 99'999), load("'1'", 1)}), std::nullopt);
  EXPECT_TRUE(placement_fault(pod, std::array{load("100k", 100'000), load("'1'", 1)})->contains("2 Too many pods"));
}

/// Two nodes with room for one pod each.
class FullNodes : public ClusterTest {
 protected:
  void SetUp() override {
    nodes_ = 2;
    start();
    for (const kube::Object& node : list(kNodes)) {
      const Value room = json::parse(R"({"status": {"allocatable": {"pods": "1"}}})").value();
      const auto done =
          env_.run(client::merge_patch(*server_, kNodes, {"", std::string(kube::name(node))}, room, "test", "status"));
      ASSERT_TRUE(done) << done.error().message;
    }
    for (const char* name : {"p", "q", "r"}) {
      make(kPods, fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}, namespace: default}}, spec: {{containers: "
                              "[{{name: c, image: i}}]}}}}",
                              name));
      advance(seconds{1});
    }
  }
};

TEST_F(FullNodes, let_a_pod_in_as_soon_as_another_has_gone) {
  EXPECT_EQ(kube::condition(get(kPods, "r"), "PodScheduled")["reason"].as_string(), "Unschedulable");
  remove(kPods, "p");
  advance(std::chrono::minutes{1});
  EXPECT_EQ(get(kPods, "r")["status"]["phase"].as_string(), "Running");
}

/// Name of the one pod that is not being deleted.
class Replacement : public ClusterTest {
 protected:
  void SetUp() override {
    start();
    make(kReplicaSets, R"({apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default}, spec: {replicas: 1,
        selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}})");
    advance(seconds{1});
  }
  std::string only_pod() {
    const auto pods = list(kPods);
    EXPECT_EQ(pods.size(), 1U);
    return pods.empty() ? "" : std::string(kube::name(pods[0]));
  }
  void kill(const std::string& name) {
    client::DeleteQuery now;
    now.grace_seconds = 0;
    EXPECT_TRUE(env_.run(client::remove(*server_, kPods, {"default", name}, now)));
  }
};

TEST_F(Replacement, never_has_the_name_of_a_pod_that_went) {
  std::set<std::string> names{only_pod()};
  for (int i = 0; i < 3; ++i) {
    kill(only_pod());
    advance(seconds{1});
    EXPECT_TRUE(names.insert(only_pod()).second) << "again after " << i;
    if (i == 1) restart();
  }
}

TEST_F(Replacement, has_a_new_name_when_the_controllers_were_away) {
  const std::string first = only_pod();
  kill(first);
  restart();
  advance(seconds{1});
  EXPECT_NE(only_pod(), first);
}

}  // namespace
}  // namespace slipway::cluster

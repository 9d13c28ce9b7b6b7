// Simulated pods in a whole cluster: steered by a script, lost with their node, slow to end.
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

class SteeredPods : public ClusterTest {
 protected:
  void SetUp() override { start(); }
  void make_deployment(const std::string& annotations = "") {
    make(kDeployments, fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: x}}}}
  template:
    metadata: {{labels: {{app: x}}, annotations: {{{}}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
)",
                                   annotations));
    settle();
  }
  std::int64_t ready() { return get(kDeployments, "web")["status"]["readyReplicas"].as_int(); }
};

TEST_F(SteeredPods, turn_bad_while_a_script_says_so) {
  make_deployment();
  EXPECT_EQ(ready(), 2);
  make(kConfigMaps, R"(apiVersion: v1
kind: ConfigMap
metadata: {name: script, namespace: default, labels: {slipway.dev/pod-script: "true"}}
data: {bad: "{selector: app=x, from: 1m, ready-after: never}"}
)");
  advance(seconds{58});
  EXPECT_EQ(ready(), 2);
  advance(seconds{3});
  EXPECT_EQ(ready(), 0);
  restart();
  EXPECT_EQ(ready(), 0);
  remove(kConfigMaps, "script");
  settle();
  EXPECT_EQ(ready(), 2);
}

TEST_F(SteeredPods, refuse_a_script_that_cannot_be_read) {
  const Value bad = json::parse_yaml(
                        "{apiVersion: v1, kind: ConfigMap, metadata: {name: s, namespace: default, labels: "
                        "{slipway.dev/pod-script: 'true'}}, data: {a: '{selector: app=x, colour: red}'}}")
                        .value();
  const auto made = env_.run(client::create(*server_, kConfigMaps, bad, "test"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "ConfigMap \"s\" is invalid: data[a]: colour: no behaviour of a simulated pod");
}

TEST_F(SteeredPods, are_replaced_when_their_node_is_lost) {
  make_deployment("slipway.dev/node-loss: 10s");
  const std::string first = list(kPods).at(0)["metadata"]["uid"].str();
  advance(seconds{11});
  EXPECT_EQ(ready(), 0);
  EXPECT_EQ(kube::condition(list(kPods).at(0), "Ready")["reason"].str(), "NodeNotReady");
  EXPECT_EQ(list(kPods).at(0)["metadata"]["uid"].str(), first);
  advance(seconds{301});
  EXPECT_EQ(ready(), 2);
  EXPECT_NE(list(kPods).at(0)["metadata"]["uid"].str(), first);
}

TEST_F(SteeredPods, take_their_time_to_end) {
  make_deployment("slipway.dev/stop-after: 4s");
  patch(kDeployments, "web", R"({"spec": {"replicas": 0}})");
  advance(seconds{3});
  ASSERT_EQ(list(kPods).size(), 2u);
  EXPECT_TRUE(kube::is_deleting(list(kPods)[0]));
  EXPECT_TRUE(kube::is_true(list(kPods)[0], "Ready"));
  advance(seconds{2});
  EXPECT_EQ(list(kPods).size(), 0u);
}

}  // namespace
}  // namespace slipway::cluster

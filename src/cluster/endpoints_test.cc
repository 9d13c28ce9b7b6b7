#include "cluster/endpoints.h"

#include "cluster/endpoint_slices.h"
#include "cluster/service_pods.h"
#include "cluster/world_fixture.h"
#include "json/text_test.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

Value service(const std::string& spec) {
  return yaml(fmt::format("{{metadata: {{name: web, namespace: default, uid: s}}, spec: {{selector: {{app: x}}, {}}}}}", spec));
}

/// A pod of the Service; `more` are further members in flow style.
Value pod(const std::string& name, const std::string& ip, bool is_ready, const std::string& more = "") {
  return yaml(
      fmt::format("{{metadata: {{name: {0}, namespace: default, uid: {0}, labels: {{app: x}}{3}}}, spec: {{nodeName: one, "
                  "containers: [{{name: c, "
                  "ports: [{{name: web, containerPort: 8080}}]}}]}}, status: {{phase: Running, podIP: {1}, podIPs: [{{ip: "
                  "{1}}}], conditions: "
                  "[{{type: Ready, status: '{2}'}}]}}}}",
                  name, ip, is_ready ? "True" : "False", more));
}

/// "10.0.0.1 rst" for each endpoint: ready, serving, terminating; slices by ";", ports after "@".
std::string slice_picture(const Value& slice) {
  std::string text;
  for (const Value& endpoint : slice["endpoints"].items()) {
    const Value& is = endpoint["conditions"];
    text += fmt::format("{} {}{}{}, ", endpoint["addresses"].item(0).as_string(), is["ready"].as_bool() ? "r" : "",
                        is["serving"].as_bool() ? "s" : "", is["terminating"].as_bool() ? "t" : "");
  }
  text += "@";
  for (const Value& port : slice["ports"].items()) {
    text += fmt::format("{}:{}/{} ", port["name"].as_string(), port["port"].as_int(), port["protocol"].as_string());
  }
  return text;
}

SliceView view(std::vector<Value> pods, std::vector<Value> slices = {}) {
  return {std::move(pods), std::move(slices), [](const std::string&) { return false; },
          [](std::string_view) { return yaml("{metadata: {name: one, labels: {topology.kubernetes.io/zone: z}}}"); }};
}

TEST(ServicePods, are_found_by_the_longest_label_of_the_selector) {
  const auto meet = [](const Value& service, const Value& pod) {
    const std::vector<std::string> labels = label_keys(pod);
    return std::ranges::any_of(selector_keys(service), [&](const std::string& key) { return std::ranges::count(labels, key); });
  };
  const Value web = yaml("{metadata: {namespace: a}, spec: {selector: {by: me, name: shop-web, tier: one}}}");
  EXPECT_TRUE(meet(web, yaml("{metadata: {namespace: a, labels: {tier: one, name: shop-web, by: me}}}")));
  EXPECT_FALSE(meet(web, yaml("{metadata: {namespace: a, labels: {tier: one, name: shop-api, by: me}}}")));
  EXPECT_FALSE(meet(web, yaml("{metadata: {namespace: b, labels: {tier: one, name: shop-web, by: me}}}")));
  EXPECT_FALSE(meet(web, yaml("{metadata: {namespace: a}}")));
  EXPECT_TRUE(meet(yaml("{metadata: {namespace: a}, spec: {selector: {empty: ''}}}"),
                   yaml("{metadata: {namespace: a, labels: {empty: ''}}}")));
  EXPECT_TRUE(selector_keys(yaml("{metadata: {namespace: a}, spec: {}}")).empty());
  EXPECT_TRUE(selector_keys(yaml("{metadata: {namespace: a}, spec: {type: ExternalName, selector: {a: b}}}")).empty());
}

struct SliceCase {
  const char* name;
  const char* spec;
  std::vector<Value> pods;
  std::vector<std::string> expected;
};

TEST(EndpointSlicePlan, turns_pods_into_endpoints) {
  const std::string going = ", deletionTimestamp: '2026-01-01T00:00:00Z'";
  const std::vector<SliceCase> cases{
      {"ready and not",
       "ports: [{port: 80}]",
       {pod("a", "10.0.0.1", true), pod("b", "10.0.0.2", false)},
       {"10.0.0.1 rs, 10.0.0.2 , @:80/TCP "}},
      {"going", "ports: [{port: 80}]", {pod("a", "10.0.0.1", true, going)}, {"10.0.0.1 st, @:80/TCP "}},
      {"all published",
       "publishNotReadyAddresses: true, ports: [{port: 80}]",
       {pod("a", "10.0.0.1", false), pod("b", "10.0.0.2", true, going)},
       {"10.0.0.1 r, 10.0.0.2 rst, @:80/TCP "}},
      {"named port",
       "ports: [{name: h, port: 80, targetPort: web}, {name: n, port: 81, targetPort: none}]",
       {pod("a", "10.0.0.1", true)},
       {"10.0.0.1 rs, @h:8080/TCP "}},
      {"headless without ports", "clusterIP: None", {pod("a", "10.0.0.1", true)}, {"10.0.0.1 rs, @"}},
      {"no address yet", "ports: [{port: 80}]", {pod("a", "''", false)}, {"@"}},
      {"ended", "ports: [{port: 80}]", {pod("a", "10.0.0.1", true).with_path({"status", "phase"}, "Failed")}, {"@"}}};
  for (const SliceCase& row : cases) {
    SCOPED_TRACE(row.name);
    const SlicePlan plan = plan_slices(service(row.spec), view(row.pods));
    std::vector<std::string> made;
    for (const Value& slice : plan.create) made.push_back(slice_picture(slice));
    EXPECT_EQ(made, row.expected);
  }
}

TEST(EndpointSlicePlan, tells_the_pod_its_node_and_zone) {
  const SlicePlan plan = plan_slices(service("ports: [{port: 80}]"), view({pod("a", "10.0.0.1", true)}));
  ASSERT_EQ(plan.create.size(), 1u);
  EXPECT_EQ(plan.create[0]["endpoints"].item(0),
            yaml("{addresses: [10.0.0.1], conditions: {ready: true, serving: true, terminating: false}, targetRef: {kind: Pod, "
                 "namespace: default, name: a, uid: a}, nodeName: one, zone: z}"));
  EXPECT_EQ(plan.create[0]["metadata"]["labels"], yaml("{endpointslice.kubernetes.io/managed-by: "
                                                       "endpointslice-controller.k8s.io, kubernetes.io/service-name: web}"));
}

std::vector<Value> many_pods(int count) {
  std::vector<Value> pods;
  for (int i = 0; i < count; ++i)
    pods.push_back(pod(fmt::format("p{:03}", i), fmt::format("10.0.{}.{}", i / 200, i % 200), true));
  return pods;
}

TEST(EndpointSlicePlan, fills_slices_of_a_hundred_and_changes_one_for_one_pod) {
  const Value owner = service("ports: [{port: 80}]");
  std::vector<Value> pods = many_pods(250);
  std::vector<Value> slices = plan_slices(owner, view(pods)).create;
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[0]["endpoints"].size(), 100u);
  EXPECT_EQ(slices[2]["endpoints"].size(), 50u);
  for (Value& slice : slices) slice = slice.with_path({"metadata", "uid"}, slice["metadata"]["name"]);
  SlicePlan plan = plan_slices(owner, view(pods, slices));
  EXPECT_EQ(plan.create.size() + plan.update.size() + plan.remove.size(), 0u);
  pods[7] = pod("p007", "10.0.0.7", false);
  pods.push_back(pod("new", "10.9.9.9", true));
  plan = plan_slices(owner, view(pods, slices));
  EXPECT_EQ(plan.update.size(), 2u);  // the changed one's slice is full, the new one goes where there is room
  pods.erase(pods.begin() + 200, pods.end());
  plan = plan_slices(owner, view(pods, slices));
  EXPECT_EQ(plan.remove.size(), 1u);
}

TEST(EndpointSlicePlan, writes_the_slice_that_it_would_delete_instead_of_a_new_one) {
  const Value owner = service("ports: [{port: 80, targetPort: web}]");
  Value slice = plan_slices(owner, view({pod("a", "10.0.0.1", true)})).create.at(0).with_path({"metadata", "uid"}, "one");
  const Value moved = yaml("[{name: c, ports: [{name: web, containerPort: 9090}]}]");
  const SlicePlan plan =
      plan_slices(owner, view({pod("b", "10.0.0.2", true).with_path({"spec", "containers"}, moved)}, {slice}));
  ASSERT_EQ(plan.update.size(), 1u);
  EXPECT_EQ(slice_picture(plan.update[0]), "10.0.0.2 rs, @:9090/TCP ");
  EXPECT_EQ(plan.create.size() + plan.remove.size(), 0u);
}

TEST(EndpointsObject, has_a_subset_for_each_set_of_ports) {
  const Value moved = yaml("[{name: c, ports: [{name: web, containerPort: 9090}]}]");
  const Value owner = service("ports: [{port: 80, targetPort: web}]");
  const Value made = endpoints_object(owner,
                                      {pod("b", "10.0.0.2", true), pod("a", "10.0.0.1", true), pod("c", "10.0.0.3", false),
                                       pod("d", "10.0.0.4", true).with_path({"spec", "containers"}, moved)},
                                      {});
  const Value& subsets = made["subsets"];
  ASSERT_EQ(subsets.size(), 2u);
  EXPECT_EQ(subsets.item(0)["addresses"].item(0)["ip"].str(), "10.0.0.1");
  EXPECT_EQ(subsets.item(0)["notReadyAddresses"].item(0)["ip"].str(), "10.0.0.3");
  EXPECT_EQ(subsets.item(0)["ports"], yaml("[{protocol: TCP, port: 8080}]"));
  EXPECT_EQ(subsets.item(1)["ports"], yaml("[{protocol: TCP, port: 9090}]"));
  EXPECT_EQ(made["metadata"]["labels"], yaml("{endpoints.kubernetes.io/managed-by: endpoint-controller}"));
}

TEST(EndpointsObject, says_that_it_left_addresses_out) {
  std::vector<Value> pods = many_pods(kMostAddresses + 1);
  const Value owner = service("ports: [{port: 80}]");
  const Value made = endpoints_object(owner, pods, {});
  EXPECT_EQ(made["subsets"].item(0)["addresses"].size(), kMostAddresses);
  EXPECT_EQ(kube::annotation(made, "endpoints.kubernetes.io/over-capacity"), "truncated");
  pods.pop_back();
  EXPECT_EQ(kube::annotation(endpoints_object(owner, pods, made), "endpoints.kubernetes.io/over-capacity"), "");
}

class ServiceEndpoints : public ClusterTest {
 protected:
  void SetUp() override { start(); }
  void make_service(const std::string& spec = "selector: {app: x}, ports: [{name: http, port: 80, targetPort: 8080}]") {
    make(kServices,
         fmt::format("{{apiVersion: v1, kind: Service, metadata: {{name: web, namespace: default}}, spec: {{{}}}}}", spec));
  }
  void make_pods(int count) {
    make(kDeployments, fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: {}
  selector: {{matchLabels: {{app: x}}}}
  template:
    metadata: {{labels: {{app: x}}, annotations: {{slipway.dev/ready-after: 2s}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
)",
                                   count));
  }
  /// How many endpoints are ready, and how many there are.
  std::pair<int, int> counts() {
    std::pair<int, int> found{0, 0};
    for (const Value& slice : list(kEndpointSlices)) {
      if (kube::label(slice, kServiceName) != "web") continue;
      for (const Value& endpoint : slice["endpoints"].items()) {
        found.first += endpoint["conditions"]["ready"].as_bool() ? 1 : 0;
        ++found.second;
      }
    }
    return found;
  }
};

TEST_F(ServiceEndpoints, follow_the_pods_and_go_with_the_service) {
  make_service();
  make_pods(3);
  settle();
  EXPECT_EQ(counts(), (std::pair{0, 3}));
  EXPECT_EQ(get(kEndpoints, "web")["subsets"].item(0)["notReadyAddresses"].size(), 3u);
  advance(seconds{3});
  EXPECT_EQ(counts(), (std::pair{3, 3}));
  EXPECT_EQ(get(kEndpoints, "web")["subsets"].item(0)["addresses"].size(), 3u);
  patch(kServices, "web", R"({"spec": {"selector": {"app": "y"}}})");
  settle();
  EXPECT_EQ(counts(), (std::pair{0, 0}));
  EXPECT_EQ(list(kEndpointSlices).size(), 1u);
  patch(kServices, "web", R"({"spec": {"selector": {"app": "x"}}})");
  settle();
  EXPECT_EQ(counts(), (std::pair{3, 3}));
  remove(kServices, "web");
  settle();
  advance(seconds{1});
  EXPECT_EQ(counts(), (std::pair{0, 0}));
  EXPECT_TRUE(get(kEndpoints, "web").is_null());
}

TEST_F(ServiceEndpoints, are_made_again_when_they_are_deleted_and_nothing_is_written_otherwise) {
  make_service();
  make_pods(2);
  advance(seconds{3});
  std::string name;
  for (const Value& slice : list(kEndpointSlices)) {
    if (kube::label(slice, kServiceName) == "web") name = slice["metadata"]["name"].str();
  }
  remove(kEndpointSlices, name);
  remove(kEndpoints, "web");
  settle();
  EXPECT_EQ(counts(), (std::pair{2, 2}));
  EXPECT_EQ(get(kEndpoints, "web")["subsets"].item(0)["addresses"].size(), 2u);
  const auto before = revision();
  restart();
  settle();
  EXPECT_EQ(revision(), before);
}

TEST_F(ServiceEndpoints, are_left_to_others_where_a_service_has_no_selector) {
  make_service("ports: [{port: 80}]");
  make_pods(1);
  advance(seconds{3});
  EXPECT_EQ(counts(), (std::pair{0, 0}));
  EXPECT_TRUE(get(kEndpoints, "web").is_null());
}

}  // namespace
}  // namespace slipway::cluster

// Use case 1: components on clusters that labels choose, their replicas spread by shares: over joined clusters, and as
// ManifestWork objects where Open Cluster Management's API is served.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "outside_plane.h"

namespace slipway::oracle_test {
namespace {

using Clusters = std::map<std::string, std::map<std::string, std::string>>;

const Clusters& landscape() {
  static const Clusters kClusters = {{"east-1", {{"region", "east"}}},
                                     {"east-2", {{"region", "east"}, {"tier", "a"}}},
                                     {"west-1", {{"region", "west"}, {"tier", "a"}}}};
  return kClusters;
}

constexpr const char* kShares =
    "[{clusterSelector: {region: east}, replicas: '70%'}, {clusterSelector: {region: west}, replicas: '20%'}]";

std::string application(const std::string& placement, const std::string& more = "") {
  return fmt::format(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {{name: a}}
spec:
  components:
  - name: web
    type: webservice
    properties: {{image: "web:1", ports: [{{port: 80, expose: true}}]}}
    traits: [{{type: scaler, properties: {{replicas: 10}}}}]
  workflow:
    steps:
    - {{name: spread, type: open-cluster-management, properties: {{placement: {}{}}}}}
)",
                     placement, more);
}

class Placement : public ::testing::Test {
 protected:
  /// "east-1 4/4, …" of the Deployment web in every cluster that has it: ready and asked for.
  std::string sizes() {
    std::string text;
    for (const auto& [name, labels] : landscape()) {
      const Value web = outside_.find("apps/v1", "Deployment", "web", name);
      if (web.is_null()) continue;
      text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", name, web["status"]["readyReplicas"].as_int(),
                          web["spec"]["replicas"].as_int());
    }
    return text;
  }

  OutsidePlane outside_{landscape()};
};

TEST_F(Placement, clusters_of_a_selector_run_its_share_together) {
  ASSERT_EQ(outside_.apply(application(kShares)), "");
  EXPECT_EQ(outside_.end(), "running spread:succeeded") << outside_.message(0);
  EXPECT_EQ(sizes(), "east-1 4/4, east-2 3/3, west-1 2/2");
  EXPECT_EQ(outside_.message(0), "web: east-1 4, east-2 3, west-1 2 (9 of 10 replicas)");
  for (const auto& [name, labels] : landscape()) {
    EXPECT_FALSE(outside_.find("v1", "Service", "web", name).is_null()) << name << " has the whole of what has no replicas";
  }
  EXPECT_TRUE(outside_.find("apps/v1", "Deployment", "web").is_null()) << "not at home";
  std::string services;
  for (const Value& service : outside_.application()["status"]["services"].items()) {
    services += fmt::format("{}:{} ", service["cluster"].as_string(), service["healthy"].as_bool());
  }
  EXPECT_EQ(services, "east-1:true east-2:true west-1:true ");
}

TEST_F(Placement, a_component_without_replicas_counts_as_one_and_the_message_says_so) {
  std::string text =
      application("[{clusterSelector: {region: east}, replicas: '70%'}, {clusterSelector: {region: west}, replicas: '20%'}]");
  const std::string scaler = "    traits: [{type: scaler, properties: {replicas: 10}}]\n";
  text.replace(text.find(scaler), scaler.size(), "");
  ASSERT_EQ(outside_.apply(text), "");
  EXPECT_EQ(outside_.end(), "running spread:succeeded") << outside_.message(0);
  EXPECT_EQ(outside_.message(0), "web: east-1 1, east-2 0, west-1 0 (it declares no replicas: counted as 1)");
  EXPECT_EQ(sizes(), "east-1 1/1, east-2 0/0, west-1 0/0");
}

TEST_F(Placement, a_cluster_that_two_entries_match_belongs_to_the_first) {
  ASSERT_EQ(outside_.apply(application(
                "[{clusterSelector: {tier: a}, replicas: '50%'}, {clusterSelector: {region: east}, replicas: '50%'}]")),
            "");
  EXPECT_EQ(outside_.end(), "running spread:succeeded") << outside_.message(0);
  EXPECT_EQ(sizes(), "east-1 5/5, east-2 3/3, west-1 2/2");
  EXPECT_EQ(outside_.message(0), "web: east-2 3, west-1 2, east-1 5");
}

TEST_F(Placement, waits_for_a_cluster_of_every_selector) {
  ASSERT_EQ(outside_.apply(application(
                "[{clusterSelector: {region: east}, replicas: '70%'}, {clusterSelector: {region: north}, replicas: '30%'}]")),
            "");
  EXPECT_EQ(outside_.end(), "runningWorkflow spread:running/Wait");
  EXPECT_EQ(outside_.message(0), "no cluster matches clusterSelector region=north");
  EXPECT_EQ(sizes(), "east-1 4/4, east-2 3/3") << "what can be delivered is";
  outside_.plane().fleet().set_labels("west-1", {{"region", "north"}});
  EXPECT_EQ(outside_.end(), "running spread:succeeded") << outside_.message(0);
  EXPECT_EQ(sizes(), "east-1 4/4, east-2 3/3, west-1 3/3");
}

TEST_F(Placement, more_than_all_replicas_is_refused) {
  ASSERT_EQ(outside_.apply(application(
                "[{clusterSelector: {region: east}, replicas: '70%'}, {clusterSelector: {region: west}, replicas: '40%'}]")),
            "");
  EXPECT_EQ(outside_.end(), "workflowFailed spread:failed/Action");
  EXPECT_EQ(outside_.message(0), "placement: the shares are 110 % of the replicas together, more than there are");
  EXPECT_EQ(sizes(), "");
}

TEST_F(Placement, a_cluster_that_is_not_chosen_any_more_loses_its_objects) {
  ASSERT_EQ(outside_.apply(application(kShares)), "");
  ASSERT_EQ(outside_.end(), "running spread:succeeded");
  ASSERT_EQ(outside_.apply(application("[{clusterSelector: {region: east}}]")), "");
  EXPECT_EQ(outside_.end(), "running spread:succeeded") << outside_.message(0);
  EXPECT_EQ(sizes(), "east-1 10/10, east-2 10/10") << "without a share each runs all";
}

constexpr const char* kDefinitions = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: manifestworks.work.open-cluster-management.io}
spec:
  group: work.open-cluster-management.io
  scope: Namespaced
  names: {kind: ManifestWork, listKind: ManifestWorkList, plural: manifestworks, singular: manifestwork}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: managedclusters.cluster.open-cluster-management.io}
spec:
  group: cluster.open-cluster-management.io
  scope: Cluster
  names: {kind: ManagedCluster, listKind: ManagedClusterList, plural: managedclusters, singular: managedcluster}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
)";

constexpr const char* kManaged = R"(
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: m-east, labels: {region: east}}
spec: {hubAcceptsClient: true}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: m-west, labels: {region: west}}
spec: {hubAcceptsClient: true}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: m-stranger, labels: {region: west}}
spec: {hubAcceptsClient: false}
)";

class ManifestWorks : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* ns : {"m-east", "m-west"}) outside_.plane().make_namespace(ns);
    ASSERT_EQ(outside_.apply(kDefinitions), "");
    ASSERT_EQ(outside_.apply(kManaged), "");
  }
  Value work(const std::string& cluster) {
    return outside_.find("work.open-cluster-management.io/v1", "ManifestWork", "c-oracle.a", kHub, cluster);
  }
  /// The agent of a cluster says how it stands.
  void report(const std::string& cluster, const std::string& applied, const std::string& available) {
    const Value reference = json::object({{"apiVersion", "work.open-cluster-management.io/v1"},
                                          {"kind", "ManifestWork"},
                                          {"namespace", cluster},
                                          {"name", "c-oracle.a"}});
    const auto status = json::parse(fmt::format(
        R"({{"status": {{"conditions": [{{"type": "Applied", "status": "{0}", "observedGeneration": {2}, "message": "no rights"}},
        {{"type": "Available", "status": "{1}", "observedGeneration": {2}, "message": ""}}]}}}})",
        applied, available, kube::generation(work(cluster))));
    ASSERT_EQ(outside_.plane().write_status(reference, client::PatchType::Merge, *status), "");
    outside_.plane().pass(std::chrono::seconds{5});
  }

  OutsidePlane outside_{landscape()};
};

TEST_F(ManifestWorks, carry_the_objects_to_each_managed_cluster_and_are_waited_for) {
  ASSERT_EQ(outside_.apply(application(kShares)), "");
  EXPECT_EQ(outside_.end(), "runningWorkflow spread:running/Wait");
  EXPECT_EQ(outside_.message(0),
            "cluster m-east: ManifestWork c-oracle.a is not Applied; cluster m-west: ManifestWork c-oracle.a is not Applied");
  const Value manifests = work("m-east")["spec"]["workload"]["manifests"];
  ASSERT_EQ(manifests.size(), 2u) << json::print(work("m-east"));
  EXPECT_EQ(manifests.item(0)["kind"].as_string(), "Deployment");
  EXPECT_EQ(manifests.item(0)["spec"]["replicas"].as_int(), 7);
  EXPECT_EQ(manifests.item(1)["kind"].as_string(), "Service");
  EXPECT_EQ(work("m-west")["spec"]["workload"]["manifests"].item(0)["spec"]["replicas"].as_int(), 2);
  EXPECT_TRUE(outside_.find("apps/v1", "Deployment", "web", "east-1").is_null()) << "joined clusters are not used";
  report("m-east", "True", "True");
  report("m-west", "False", "False");
  EXPECT_EQ(outside_.message(0), "cluster m-west: ManifestWork c-oracle.a is not Applied: no rights");
  report("m-west", "True", "True");
  EXPECT_EQ(outside_.end(), "running spread:succeeded");
  EXPECT_EQ(outside_.message(0), "web: m-east 7, m-west 2 (9 of 10 replicas)");
}

TEST_F(ManifestWorks, what_an_agent_said_of_an_older_generation_does_not_count) {
  ASSERT_EQ(outside_.apply(application(kShares)), "");
  outside_.end();
  report("m-east", "True", "True");
  report("m-west", "True", "True");
  ASSERT_EQ(outside_.end(), "running spread:succeeded");
  ASSERT_EQ(outside_.apply(application("[{clusterSelector: {region: east}, replicas: '80%'}]")), "");
  EXPECT_EQ(outside_.end(), "runningWorkflow spread:running/Wait");
  EXPECT_EQ(outside_.message(0), "cluster m-east: ManifestWork c-oracle.a is not Applied");
  report("m-east", "True", "True");
  EXPECT_EQ(outside_.end(), "running spread:succeeded");
  EXPECT_TRUE(work("m-west").is_null()) << "collected";
}

TEST(Seed, 13_the_replicas_are_spread_over_the_regions) {
  OutsidePlane outside(landscape());
  ASSERT_EQ(outside.apply_seed("13.yaml"), "");
  EXPECT_EQ(outside.end(), "running step-0:succeeded") << outside.message(0);
  EXPECT_EQ(outside.message(0), "mysvc: east-1 4, east-2 3, west-1 2 (9 of 10 replicas)");
  EXPECT_EQ(outside.find("apps/v1", "Deployment", "mysvc", "east-1")["status"]["readyReplicas"].as_int(), 4);
}

}  // namespace
}  // namespace slipway::oracle_test

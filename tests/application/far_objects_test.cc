// Steps of a graph of Jobs that wait for objects in other namespaces and clusters: with the rights of who wrote the workflow.
// (Here since this is where a plane with two clusters is.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using User = std::shared_ptr<const kube::UserInfo>;

const Value kFlow = yaml("{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, namespace: team, name: flow}");

std::string binding(const char* ns, const char* role) {
  return fmt::format(
      "{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {}, namespace: {}}}, roleRef: "
      "{{apiGroup: "
      "rbac.authorization.k8s.io, kind: ClusterRole, name: {}}}, subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, "
      "name: ann}}]}}",
      role, ns, role);
}

class FarObjects : public testing::Test {
 protected:
  FarObjects() {
    for (const char* ns : {"team", "base"}) plane_.make_namespace(ns);
    EXPECT_EQ(plane_.apply(yaml(binding("team", "edit")), "team"), "");
    EXPECT_EQ(plane_.apply(yaml("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: flows}, rules: "
                                "[{apiGroups: [batch.slipway.dev], resources: [workflows], verbs: ['*']}]}"),
                           ""),
              "");
    EXPECT_EQ(plane_.apply(yaml(binding("team", "flows")), "team"), "");
  }

  /// A workflow by ann that waits for the claim `reference`.
  void wait_for(const std::string& reference, User user = kAnn) {
    const std::string flow = fmt::format(
        "{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: flow, annotations: "
        "{{batch.slipway.dev/username: root, batch.slipway.dev/groups: 'system:masters'}}}}, spec: {{steps: {{wait: "
        "{{externalRef: "
        "{{apiVersion: v1, kind: PersistentVolumeClaim, {}}}, until: {{condition: Filled}}}}}}}}}}",
        reference);
    ASSERT_EQ(plane_.apply(yaml(flow), "team", user), "");
    ASSERT_TRUE(plane_.pass(seconds{6}));
  }
  void fill_claim(const std::string& cluster) {
    const Value claim = yaml(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: base}, spec: {accessModes: "
        "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    plane_.store(cluster, claim, "filler");
    ASSERT_TRUE(plane_.pass(seconds{1}));
    const Value found =
        plane_.find(cluster, yaml("{apiVersion: v1, kind: PersistentVolumeClaim, namespace: base, name: data}"));
    plane_.store(cluster, found.with_path({"status", "conditions"}, yaml("[{type: Filled, status: 'True'}]")), "filler");
  }
  Value record() { return plane_.find(kHub, kFlow)["status"]["statuses"]["wait"]; }
  bool is_complete() { return kube::is_true(plane_.find(kHub, kFlow), "Complete"); }

  static inline const User kAnn = std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = "ann", .uid = "", .groups = {"system:authenticated"}, .extra = {}});
  Plane plane_{&image()};
};

TEST_F(FarObjects, of_another_namespace_need_the_right_to_get_them) {
  fill_claim(kHub);
  wait_for("name: data, namespace: base");
  EXPECT_EQ(record()["reason"].as_string(), "ExternalUnknown");
  EXPECT_EQ(record()["reference"]["namespace"].as_string(), "base");
  EXPECT_NE(record()["message"].as_string().find(
                "PersistentVolumeClaim base/data cannot be looked at: persistentvolumeclaims \"data\" is forbidden: "
                "User \"ann\""),
            std::string::npos)
      << record()["message"].as_string();
  ASSERT_EQ(plane_.apply(yaml(binding("base", "view")), "base"), "");
  ASSERT_TRUE(plane_.pass(seconds{6}));
  EXPECT_TRUE(is_complete()) << json::print(record());
}

TEST_F(FarObjects, are_looked_at_as_admission_says_and_not_as_the_body_does) {
  wait_for("name: data, namespace: base");
  const Value& annotations = plane_.find(kHub, kFlow)["metadata"]["annotations"];
  EXPECT_EQ(annotations["batch.slipway.dev/username"].as_string(), "ann");
  EXPECT_EQ(annotations["batch.slipway.dev/groups"].as_string(), "system:authenticated");
  EXPECT_EQ(plane_.merge(kFlow, yaml("{metadata: {labels: {a: b}}}")), "");
  EXPECT_EQ(plane_.find(kHub, kFlow)["metadata"]["annotations"]["batch.slipway.dev/username"].as_string(), "ann");
}

TEST_F(FarObjects, of_another_cluster_are_waited_for_and_told_by_name) {
  wait_for("name: data, namespace: base, cluster: cluster-worker", nullptr);
  EXPECT_EQ(record()["reason"].as_string(), "ExternalMissing");
  EXPECT_EQ(record()["message"].as_string(), "PersistentVolumeClaim base/data in cluster cluster-worker does not exist yet");
  fill_claim(kHub);  // the same name, the wrong cluster
  ASSERT_TRUE(plane_.pass(seconds{10}));
  EXPECT_FALSE(is_complete());
  fill_claim(kWorker);
  ASSERT_TRUE(plane_.pass(seconds{10}));
  EXPECT_TRUE(is_complete()) << json::print(record());
  EXPECT_EQ(record()["reference"]["cluster"].as_string(), kWorker);
}

TEST_F(FarObjects, of_a_cluster_that_is_not_known_are_unknown_and_not_gone) {
  wait_for("name: data, cluster: nowhere", nullptr);
  EXPECT_EQ(record()["reason"].as_string(), "ExternalUnknown");
  EXPECT_EQ(record()["message"].as_string(), "cluster nowhere is not known");
  EXPECT_EQ(record()["phase"].as_string(), "Running");
}

}  // namespace
}  // namespace slipway::oracle_test

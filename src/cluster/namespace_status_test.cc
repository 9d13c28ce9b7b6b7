#include "cluster/namespace_status.h"

#include "cluster/world_fixture.h"
#include "json/text_test.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

std::string told(const Value& conditions, const char* type) {
  const Value& one = kube::condition(Value::empty_object().with_path({"status", "conditions"}, conditions), type);
  return fmt::format("{} {}: {}", one["status"].as_string(), one["reason"].as_string(), one["message"].as_string());
}

TEST(NamespaceConditions, say_what_is_left_and_what_holds_it) {
  NamespaceRemains remains;
  EXPECT_TRUE(remains.is_empty());
  remains.add(kPods, yaml("[{metadata: {finalizers: [a/b]}}, {metadata: {finalizers: [a/b, c/d]}}]"));
  remains.add(kJobs, yaml("[{}]"));
  remains.add(kSecrets, Value::empty_array());
  const Value conditions = namespace_conditions({}, remains, Time{seconds{1}});
  EXPECT_EQ(conditions.size(), 5U);
  EXPECT_EQ(told(conditions, "NamespaceContentRemaining"),
            "True SomeResourcesRemain: Some resources are remaining: jobs.batch has 1 resource instances, pods. has 2 resource "
            "instances");
  EXPECT_EQ(
      told(conditions, "NamespaceFinalizersRemaining"),
      "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a/b in 2 resource instances, c/d "
      "in 1 resource instances");
  EXPECT_EQ(told(conditions, "NamespaceDeletionContentFailure"),
            "False ContentDeleted: All content successfully deleted, may be waiting on finalization");
  EXPECT_EQ(told(conditions, "NamespaceDeletionDiscoveryFailure"),
            "False ResourcesDiscovered: All resources successfully discovered");
  EXPECT_EQ(namespace_conditions(conditions, remains, Time{seconds{9}}), conditions);
  EXPECT_EQ(told(namespace_conditions(conditions, {}, Time{seconds{9}}), "NamespaceContentRemaining"),
            "False ContentRemoved: All content successfully removed");
}

TEST(NamespaceConditions, tell_of_failures) {
  NamespaceRemains remains;
  remains.content_failures = {"no", "never"};
  EXPECT_FALSE(remains.is_empty());
  EXPECT_EQ(told(namespace_conditions({}, remains, Time{}), "NamespaceDeletionContentFailure"),
            "True ContentDeletionFailed: Failed to delete all resource types, 2 remaining: no, never");
}

class NamespaceEnd : public ClusterTest {
 protected:
  void SetUp() override {
    start();
    make(kNamespaces, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  }
  Value space() { return get(kNamespaces, "team", ""); }
};

TEST_F(NamespaceEnd, shows_what_keeps_it_until_that_goes) {
  make(kConfigMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: team, finalizers: [a.io/f]}}");
  remove(kNamespaces, "team", "Background", "");
  settle();
  EXPECT_EQ(told(space()["status"]["conditions"], "NamespaceContentRemaining"),
            "True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances");
  EXPECT_EQ(
      told(space()["status"]["conditions"], "NamespaceFinalizersRemaining"),
      "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a.io/f in 1 resource instances");
  const Value held = get(kConfigMaps, "held", "team");
  EXPECT_TRUE(kube::is_deleting(held));
  const auto freed = env_.run(client::update(*server_, kConfigMaps, held.without_path({"metadata", "finalizers"}), "test"));
  EXPECT_TRUE(freed);
  advance(seconds{10});
  EXPECT_TRUE(space().is_null());
}

TEST_F(NamespaceEnd, takes_pods_before_what_they_use) {
  make(kPods, R"({apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team, finalizers: [a.io/f]},
      spec: {containers: [{name: c, image: i}]}})");
  make(kConfigMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: used, namespace: team}}");
  settle();
  remove(kNamespaces, "team", "Background", "");
  advance(seconds{60});
  EXPECT_FALSE(kube::is_deleting(get(kConfigMaps, "used", "team")));
  EXPECT_EQ(told(space()["status"]["conditions"], "NamespaceContentRemaining"),
            "True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances");
  const Value pod = get(kPods, "p", "team");
  EXPECT_TRUE(env_.run(client::update(*server_, kPods, pod.without_path({"metadata", "finalizers"}), "test")));
  advance(seconds{60});
  EXPECT_TRUE(space().is_null());
}

}  // namespace
}  // namespace slipway::cluster

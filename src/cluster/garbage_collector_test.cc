#include <fmt/format.h>

#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

class GarbageTest : public ClusterTest {
 protected:
  void SetUp() override { start(); }

  json::Value config(const std::string& name, const std::vector<json::Value>& owners = {}, bool blocks = false) {
    json::ArrayBuilder references;
    for (const json::Value& owner : owners) {
      references.add(json::object({{"apiVersion", owner["apiVersion"]},
                                   {"kind", owner["kind"]},
                                   {"name", owner["metadata"]["name"]},
                                   {"uid", owner["metadata"]["uid"]},
                                   {"blockOwnerDeletion", blocks}}));
    }
    json::Value metadata = json::object({{"name", name}, {"namespace", "default"}});
    if (!references.empty()) metadata = metadata.with("ownerReferences", references.build());
    return create(kConfigMaps, json::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}}));
  }
  bool exists(const std::string& name) { return !get(kConfigMaps, name).is_null(); }
};

TEST_F(GarbageTest, deletes_what_has_lost_its_only_owner) {
  const auto owner = config("owner");
  const auto child = config("child", {owner});
  config("grandchild", {child});
  settle();
  remove(kConfigMaps, "owner");
  settle();
  EXPECT_FALSE(exists("child"));
  EXPECT_FALSE(exists("grandchild"));
}

TEST_F(GarbageTest, keeps_what_has_another_owner) {
  const auto first = config("first");
  const auto second = config("second");
  config("child", {first, second});
  settle();
  remove(kConfigMaps, "first");
  settle();
  const auto child = get(kConfigMaps, "child");
  ASSERT_FALSE(child.is_null());
  ASSERT_EQ(child["metadata"]["ownerReferences"].size(), 1U);
  EXPECT_EQ(child["metadata"]["ownerReferences"].item(0)["name"].as_string(), "second");
}

TEST_F(GarbageTest, takes_an_owner_of_the_same_name_but_another_uid_for_gone) {
  const auto owner = config("owner");
  config("child", {owner.with_path({"metadata", "uid"}, "another")});
  advance(seconds{1});
  EXPECT_FALSE(exists("child"));
}

TEST_F(GarbageTest, deletes_dependents_first_in_the_foreground) {
  const auto owner = config("owner");
  const auto child = config("child", {owner}, true);
  config("grandchild", {child}, true);
  settle();
  patch(kConfigMaps, "grandchild", R"({"metadata":{"finalizers":["example.com/wait"]}})");
  remove(kConfigMaps, "owner", "Foreground");
  advance(seconds{1});
  EXPECT_TRUE(exists("owner"));
  EXPECT_TRUE(exists("child"));
  EXPECT_TRUE(kube::is_deleting(get(kConfigMaps, "grandchild")));
  patch(kConfigMaps, "grandchild", R"({"metadata":{"finalizers":null}})");
  advance(seconds{1});
  EXPECT_FALSE(exists("grandchild"));
  EXPECT_FALSE(exists("child"));
  EXPECT_FALSE(exists("owner"));
}

TEST_F(GarbageTest, leaves_orphans) {
  const auto owner = config("owner");
  config("child", {owner});
  settle();
  remove(kConfigMaps, "owner", "Orphan");
  settle();
  EXPECT_FALSE(exists("owner"));
  ASSERT_TRUE(exists("child"));
  EXPECT_TRUE(get(kConfigMaps, "child")["metadata"]["ownerReferences"].empty());
}

TEST_F(GarbageTest, finds_after_a_restart_what_was_orphaned_before) {
  const auto owner = config("owner");
  config("child", {owner});
  settle();
  // The owner goes while no controller runs.
  env_.drop_all();
  runtime_.reset();
  remove(kConfigMaps, "owner");
  restart();
  EXPECT_FALSE(exists("child"));
}

TEST_F(GarbageTest, takes_owners_of_unknown_kinds_to_exist) {
  const auto owner = json::object(
      {{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"metadata", json::object({{"name", "x"}, {"uid", "1"}})}});
  config("child", {owner});
  advance(seconds{1});
  EXPECT_TRUE(exists("child"));
}

TEST_F(GarbageTest, deletes_a_job_with_its_running_pods) {
  make(kJobs, job_yaml("work", "  completions: 2\n  parallelism: 2\n", "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  EXPECT_EQ(list(kPods).size(), 2U);
  remove(kJobs, "work");
  advance(seconds{1});
  EXPECT_TRUE(get(kJobs, "work").is_null());
  EXPECT_TRUE(list(kPods).empty());
}

TEST_F(GarbageTest, deletes_a_job_in_the_foreground) {
  make(kJobs, job_yaml("work", "  completions: 2\n  parallelism: 2\n", "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  remove(kJobs, "work", "Foreground");
  advance(seconds{1});
  EXPECT_TRUE(get(kJobs, "work").is_null());
  EXPECT_TRUE(list(kPods).empty());
}

TEST_F(GarbageTest, lets_the_pods_of_an_orphaned_job_go_on) {
  make(kJobs, job_yaml("work", "", "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  remove(kJobs, "work", "Orphan");
  advance(seconds{1});
  EXPECT_TRUE(get(kJobs, "work").is_null());
  ASSERT_EQ(list(kPods).size(), 1U);
  EXPECT_EQ(list(kPods)[0]["status"]["phase"].as_string(), "Running");
}

TEST_F(GarbageTest, breaks_a_circle_of_owners_that_block_one_another) {
  const auto a = config("a");
  const auto b = config("b", {a}, true);
  const auto c = config("c", {b}, true);
  const std::string circle = R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":")" +
                             c["metadata"]["uid"].str() + R"(","blockOwnerDeletion":true}]}})";
  patch(kConfigMaps, "a", circle);
  settle();
  remove(kConfigMaps, "a", "Foreground");
  advance(seconds{5});
  EXPECT_FALSE(exists("a"));
  EXPECT_FALSE(exists("b"));
  EXPECT_FALSE(exists("c"));
}

/// Every kind of the server can be deleted in the foreground and with orphans.
class AnyKindTest : public GarbageTest {
 protected:
  const kube::Resource kServices{"", "v1", "services"};
  const kube::Resource kRoles{"rbac.authorization.k8s.io", "v1", "roles"};
  const kube::Resource kThings{"example.com", "v1", "things"};

  void define_things() {
    make(kDefinitions,
         R"({apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com},
      spec: {group: example.com, scope: Namespaced, names: {plural: things, singular: thing, kind: Thing, listKind: ThingList},
      versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}})");
    advance(seconds{1});
  }
  json::Value thing(const std::string& name) {
    return make(kThings, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: " + name + ", namespace: default}}");
  }
};

TEST_F(AnyKindTest, ends_a_foreground_deletion_of_services_and_roles) {
  const auto service =
      make(kServices, "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: default}, spec: {ports: [{port: 80}]}}");
  const auto role =
      make(kRoles, "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: default}}");
  config("of-service", {service}, true);
  config("of-role", {role}, true);
  settle();
  remove(kServices, "s", "Foreground");
  remove(kRoles, "r", "Orphan");
  advance(seconds{2});
  EXPECT_TRUE(get(kServices, "s").is_null());
  EXPECT_FALSE(exists("of-service"));
  EXPECT_TRUE(get(kRoles, "r").is_null());
  EXPECT_TRUE(exists("of-role"));
}

TEST_F(AnyKindTest, collects_dependents_of_custom_resources_and_custom_dependents) {
  define_things();
  const auto owner = thing("owner");
  config("child", {owner}, true);
  const auto parent = config("parent");
  make(kThings, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: kept, namespace: default}}");
  patch(kThings, "kept",
        R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"parent","uid":")" +
            parent["metadata"]["uid"].str() + R"("}]}})");
  settle();
  remove(kThings, "owner", "Foreground");
  remove(kConfigMaps, "parent");
  advance(seconds{2});
  EXPECT_FALSE(exists("child"));
  EXPECT_TRUE(get(kThings, "owner").is_null());
  EXPECT_TRUE(get(kThings, "kept").is_null());
}

TEST_F(AnyKindTest, collects_what_named_owners_of_a_kind_that_came_later) {
  const auto missing = json::object({{"apiVersion", "example.com/v1"},
                                     {"kind", "Thing"},
                                     {"metadata", json::object({{"name", "gone"}, {"namespace", "default"}, {"uid", "1"}})}});
  config("child", {missing});
  advance(seconds{2});
  EXPECT_TRUE(exists("child"));
  define_things();
  advance(seconds{2});
  EXPECT_FALSE(exists("child"));
}

TEST_F(AnyKindTest, follows_a_kind_that_went_and_came_again) {
  define_things();
  thing("first");
  remove(kDefinitions, "things.example.com", "Background", "");
  advance(seconds{5});
  EXPECT_TRUE(get(kDefinitions, "things.example.com", "").is_null());
  define_things();
  const auto owner = thing("second");
  config("child", {owner});
  settle();
  remove(kThings, "second");
  advance(seconds{2});
  EXPECT_FALSE(exists("child"));
}

class EndingTest : public ClusterTest {
 protected:
  void SetUp() override { start(); }
};

TEST_F(EndingTest, empties_and_finalizes_a_namespace) {
  make(kNamespaces, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  make(kConfigMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}");
  make(kJobs, R"({apiVersion: batch/v1, kind: Job, metadata: {name: work, namespace: team}, spec: {template: {
    metadata: {annotations: {slipway.dev/run-time: 1h}},
    spec: {restartPolicy: Never, containers: [{name: main, image: none, command: ["true"]}]}}}})");
  advance(seconds{1});
  EXPECT_EQ(list(kPods, "team").size(), 1U);
  remove(kNamespaces, "team", "Background", "");
  advance(seconds{20});
  EXPECT_TRUE(get(kNamespaces, "team", "").is_null());
  EXPECT_TRUE(list(kPods, "team").empty());
  EXPECT_TRUE(list(kConfigMaps, "team").empty());
  EXPECT_FALSE(get(kNamespaces, "default", "").is_null());
}

TEST_F(EndingTest, deletes_custom_objects_before_their_definition) {
  make(kDefinitions,
       R"({apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com},
    spec: {group: example.com, scope: Namespaced, names: {plural: things, singular: thing, kind: Thing, listKind: ThingList},
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}})");
  settle();
  const kube::Resource things{"example.com", "v1", "things"};
  make(things,
       "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: default, finalizers: [example.com/wait]}}");
  remove(kDefinitions, "things.example.com", "Background", "");
  advance(seconds{3});
  EXPECT_FALSE(get(kDefinitions, "things.example.com", "").is_null());
  EXPECT_TRUE(kube::is_deleting(get(things, "a")));
  patch(things, "a", R"({"metadata":{"finalizers":null}})");
  advance(seconds{3});
  EXPECT_TRUE(get(kDefinitions, "things.example.com", "").is_null());
}

TEST_F(EndingTest, deletes_custom_objects_before_a_definition_without_a_served_version) {
  const auto definition = [](const char* served) {
    return fmt::format(
        R"({{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: things.example.com}},
    spec: {{group: example.com, scope: Namespaced, names: {{plural: things, singular: thing, kind: Thing, listKind: ThingList}},
    versions: [{{name: v1, served: {}, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]}}}})",
        served);
  };
  make(kDefinitions, definition("true"));
  settle();
  const kube::Resource things{"example.com", "v1", "things"};
  make(things, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: default}}");
  patch(kDefinitions, "things.example.com",
        R"({"spec":{"versions":[{"name":"v1","served":false,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
        "");
  settle();
  EXPECT_TRUE(get(things, "a").is_null());
  remove(kDefinitions, "things.example.com", "Background", "");
  advance(seconds{3});
  EXPECT_TRUE(get(kDefinitions, "things.example.com", "").is_null());
  make(kDefinitions, definition("true"));
  settle();
  EXPECT_TRUE(get(things, "a").is_null()) << "an object outlived its definition";
}

TEST_F(EndingTest, binds_claims) {
  make(kClaims, R"({apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: shared, namespace: default},
    spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}})");
  settle();
  const auto claim = get(kClaims, "shared");
  EXPECT_EQ(claim["status"]["phase"].as_string(), "Bound");
  EXPECT_EQ(claim["status"]["capacity"]["storage"].as_string(), "1Gi");
}

}  // namespace
}  // namespace slipway::cluster

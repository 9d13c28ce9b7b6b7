#include "server/server_fixture.h"

namespace slipway::server {
namespace {

class Delete : public ServerTest {
 protected:
  static Value with_finalizers(const Value& object, std::initializer_list<Value> finalizers) {
    return object.with_path({"metadata", "finalizers"}, json::array(finalizers));
  }
  static std::string finalizers(const Value& object) { return json::print(object["metadata"]["finalizers"]); }
  Value started_pod() {
    const Value pod =
        must(create(kPods, yaml("{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: "
                                "[{name: c, image: i}]}}")));
    return must(update_status(
        kPods, pod.with_path({"status", "phase"}, "Running").with_path({"status", "startTime"}, "2026-01-01T00:00:00Z")));
  }
};

TEST_F(Delete, removes_and_tells_what) {
  const Value made = must(create(kJobs, yaml(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
)")));
  const Value gone = must(remove(kJobs, "j", "{propagationPolicy: Background}"));
  EXPECT_EQ(gone,
            json::object(
                {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Value::empty_object()},
                 {"status", "Success"},
                 {"details", json::object({{"name", "j"}, {"group", "batch"}, {"kind", "jobs"}, {"uid", kube::uid(made)}})}}));
  EXPECT_EQ(message(get(kJobs, "j")), "jobs.batch \"j\" not found");
  EXPECT_EQ(message(remove(kJobs, "j")), "jobs.batch \"j\" not found");
}

TEST_F(Delete, keeps_its_preconditions) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(
      message(remove(kConfigMaps, "a", "{preconditions: {uid: other}}")),
      fmt::format(
          "Operation cannot be fulfilled on configmaps \"a\": Precondition failed: UID in precondition: other, UID in object "
          "meta: {}",
          kube::uid(made)));
  const auto stale = remove(kConfigMaps, "a", "{preconditions: {resourceVersion: '1'}}");
  EXPECT_EQ(reason(stale), "Conflict");
  EXPECT_EQ(message(stale),
            fmt::format("Operation cannot be fulfilled on configmaps \"a\": Precondition failed: ResourceVersion in "
                        "precondition: 1, ResourceVersion in object meta: {}",
                        kube::revision(made)));
  must(remove(kConfigMaps, "a",
              fmt::format("{{preconditions: {{uid: {}, resourceVersion: '{}'}}}}", kube::uid(made), kube::revision(made))));
}

TEST_F(Delete, waits_for_finalizers_and_goes_with_the_last) {
  const Value made = must(create(kConfigMaps, with_finalizers(config_map("a"), {"x.io/f", "x.io/g"})));
  env_.advance(std::chrono::seconds{3});
  const Value going = must(remove(kConfigMaps, "a"));
  EXPECT_EQ(going["metadata"]["deletionTimestamp"].str(), "2026-01-01T00:00:03Z");
  EXPECT_EQ(going["metadata"]["deletionGracePeriodSeconds"].as_int(-1), 0);
  EXPECT_EQ(kube::revision(going), kube::revision(made) + 1);
  env_.advance(std::chrono::seconds{3});
  EXPECT_EQ(must(remove(kConfigMaps, "a")), going) << "a second delete changes nothing";
  must(update(kConfigMaps, with_finalizers(going, {"x.io/g"})));
  EXPECT_EQ(finalizers(must(get(kConfigMaps, "a"))), R"(["x.io/g"])");
  must(patch(kConfigMaps, "a", client::PatchType::Merge, "{metadata: {finalizers: null}}"));
  EXPECT_EQ(reason(get(kConfigMaps, "a")), "NotFound");
}

TEST_F(Delete, moves_the_generation_of_what_it_keeps) {
  define_widgets();
  must(create(kWidgets, with_finalizers(widget("w"), {"x.io/f"})));
  EXPECT_EQ(kube::generation(must(remove(kWidgets, "w"))), 2);
  EXPECT_EQ(kube::generation(must(remove(kWidgets, "w"))), 2);
}

TEST_F(Delete, turns_propagation_into_finalizers) {
  const auto after = [&](const char* name, std::initializer_list<Value> before, std::string_view options) {
    must(create(kConfigMaps, with_finalizers(config_map(name), before)));
    const Value reply = must(remove(kConfigMaps, name, options));
    return reply["kind"].str() == "Status" ? "gone" : finalizers(reply);
  };
  EXPECT_EQ(after("a", {}, "{propagationPolicy: Background}"), "gone");
  EXPECT_EQ(after("b", {}, "{propagationPolicy: Foreground}"), R"(["foregroundDeletion"])");
  EXPECT_EQ(after("c", {}, "{propagationPolicy: Orphan}"), R"(["orphan"])");
  EXPECT_EQ(after("d", {}, "{orphanDependents: true}"), R"(["orphan"])");
  EXPECT_EQ(after("e", {"x.io/f", "orphan"}, "{propagationPolicy: Foreground}"), R"(["x.io/f","foregroundDeletion"])");
  EXPECT_EQ(after("f", {"orphan"}, "{}"), R"(["orphan"])");
  EXPECT_EQ(after("g", {"orphan"}, "{propagationPolicy: Background}"), "gone");
  EXPECT_EQ(after("h", {"foregroundDeletion"}, ""), R"(["foregroundDeletion"])");
  EXPECT_EQ(message(remove(kConfigMaps, "h", "{propagationPolicy: Sideways}")),
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Sideways\": supported values: "
            "\"Background\", \"Foreground\", \"Orphan\", \"nil\"");
  EXPECT_EQ(message(remove(kConfigMaps, "h", "{propagationPolicy: Orphan, orphanDependents: true}")),
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Orphan\": orphanDependents and "
            "deletionPropagation cannot be both set");
}

TEST_F(Delete, of_a_job_leaves_its_pods_unless_told) {
  must(create(kJobs, yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default}, spec: {template: {spec: "
                          "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}")));
  EXPECT_EQ(finalizers(must(remove(kJobs, "j"))), R"(["orphan"])");
}

TEST_F(Delete, gives_a_started_pod_its_grace) {
  started_pod();
  const Value going = must(remove(kPods, "p"));
  EXPECT_EQ(going["metadata"]["deletionTimestamp"].str(), "2026-01-01T00:00:30Z");
  EXPECT_EQ(going["metadata"]["deletionGracePeriodSeconds"].as_int(), 30);
  EXPECT_EQ(must(remove(kPods, "p")), going);
  EXPECT_EQ(must(remove(kPods, "p", "{gracePeriodSeconds: 60}")), going) << "grace is never prolonged";
  const Value sooner = must(remove(kPods, "p", "{gracePeriodSeconds: 10}"));
  EXPECT_EQ(sooner["metadata"]["deletionTimestamp"].str(), "2026-01-01T00:00:10Z");
  EXPECT_EQ(sooner["metadata"]["deletionGracePeriodSeconds"].as_int(), 10);
  EXPECT_EQ(must(remove(kPods, "p", "{gracePeriodSeconds: 0}"))["kind"].str(), "Pod");
  EXPECT_EQ(reason(get(kPods, "p")), "NotFound");
}

TEST_F(Delete, a_grace_beyond_every_calendar_still_ends_at_a_time_that_can_be_read) {
  started_pod();
  const Value going = must(remove(kPods, "p", "{gracePeriodSeconds: 9223372036854775807}"));
  EXPECT_EQ(going["metadata"]["deletionTimestamp"].str(), "2318-04-12T23:47:16Z");
  const Value sooner = must(remove(kPods, "p", "{gracePeriodSeconds: 10}"));
  EXPECT_EQ(sooner["metadata"]["deletionTimestamp"].str(), "2026-01-01T00:00:10Z");
}

TEST_F(Delete, takes_a_pod_at_once_that_never_started_or_has_ended) {
  must(create(
      kPods,
      yaml("{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {containers: [{name: c, image: i}]}}")));
  EXPECT_EQ(must(remove(kPods, "q"))["kind"].str(), "Pod");
  const Value pod = started_pod();
  must(update_status(kPods, pod.with_path({"status", "phase"}, "Failed")));
  EXPECT_EQ(must(remove(kPods, "p"))["kind"].str(), "Pod");
}

TEST_F(Delete, holds_a_namespace_until_it_is_finalized) {
  must(create(kNamespaces, yaml("{apiVersion: v1, kind: Namespace, metadata: {name: ns}}")));
  const Value going = must(remove(kNamespaces, "ns", "", ""));
  EXPECT_EQ(going["status"]["phase"].str(), "Terminating");
  EXPECT_EQ(json::print(going["spec"]), R"({"finalizers":["kubernetes"]})");
  Request finalize = request(Verb::Update, kNamespaces, "ns", "");
  finalize.subresource = "finalize";
  finalize.body = going.with_path({"spec", "finalizers"}, Value::empty_array());
  must(object_of(finalize));
  EXPECT_EQ(message(get(kNamespaces, "ns", "")), "namespaces \"ns\" not found");
}

TEST_F(Delete, spares_the_namespaces_of_the_system) {
  const auto refused = remove(kNamespaces, "default", "", "");
  EXPECT_EQ(reason(refused), "Forbidden");
  EXPECT_EQ(message(refused), "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

TEST_F(Delete, dry_run_removes_nothing) {
  must(create(kConfigMaps, config_map("a")));
  Request asked = request(Verb::Delete, kConfigMaps, "a");
  asked.dry_run = true;
  EXPECT_EQ(must(object_of(asked))["status"].str(), "Success");
  EXPECT_EQ(must(remove(kConfigMaps, "a", "{dryRun: [All]}"))["status"].str(), "Success");
  must(get(kConfigMaps, "a"));
}

TEST_F(Delete, of_a_subresource_is_not_allowed) {
  define_widgets();
  must(create(kWidgets, widget("w")));
  Request asked = request(Verb::Delete, kWidgets, "w");
  asked.subresource = "status";
  EXPECT_EQ(message(object_of(asked)), "the server does not allow this method on the requested resource");
  must(get(kWidgets, "w"));
}

TEST_F(Delete, of_a_collection_takes_what_the_selector_says) {
  for (int i = 0; i < 1200; ++i) {
    must(create(kConfigMaps,
                config_map(fmt::format("m{}", i)).with_path({"metadata", "labels", "odd"}, i % 2 == 0 ? "no" : "yes")));
  }
  Request asked = request(Verb::DeleteCollection, kConfigMaps, "");
  asked.label_selector = "odd=yes";
  const auto syncs = vfs_.syncs();
  EXPECT_EQ(must(object_of(asked))["items"].size(), 600u);
  EXPECT_LT(vfs_.syncs() - syncs, 20u) << "deletes are written in groups";
  EXPECT_EQ(must(list(kConfigMaps))["items"].size(), 600u);
  must(object_of(request(Verb::DeleteCollection, kConfigMaps, "")));
  EXPECT_EQ(must(list(kConfigMaps))["items"].size(), 0u);
}

TEST_F(Delete, of_a_collection_takes_what_may_go_and_says_what_may_not) {
  const client::Resource namespaces{"", "v1", "namespaces"};
  must(create(namespaces, yaml("{apiVersion: v1, kind: Namespace, metadata: {name: extra}}")));
  EXPECT_EQ(reason(object_of(request(Verb::DeleteCollection, namespaces, ""))), "Forbidden");
  const auto extra = object_of(request(Verb::Get, namespaces, "extra"));
  EXPECT_TRUE(!extra || !(*extra)["metadata"]["deletionTimestamp"].is_null());
}

TEST_F(Delete, of_a_collection_gives_each_its_own_revision) {
  for (const char* name : {"a", "b", "c"}) must(create(kConfigMaps, with_finalizers(config_map(name), {"x.io/f"})));
  const auto before = store_->revision();
  must(object_of(request(Verb::DeleteCollection, kConfigMaps, "")));
  const Value all = must(list(kConfigMaps));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(kube::revision(all["items"].item(i)), before + 1 + i);
}

}  // namespace
}  // namespace slipway::server

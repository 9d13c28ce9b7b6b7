#include "server/server_fixture.h"

namespace slipway::server {
namespace {

using client::PatchType;

class Patch : public ServerTest {
 protected:
  Result<Value> apply(std::string_view body, std::string manager, bool force = false,
                      const kube::Resource& resource = kConfigMaps, std::string subresource = "") {
    Request asked = writing(Verb::Patch, resource, yaml(body));
    asked.patch_type = PatchType::Apply;
    asked.field_manager = std::move(manager);
    asked.force = force;
    asked.subresource = std::move(subresource);
    return object_of(std::move(asked));
  }
};

TEST_F(Patch, of_nothing_leaves_a_status_that_has_a_default) {
  const Value definition = widgets_definition();
  const Value& version = definition["spec"]["versions"].item(0);
  const Value with_default =
      version.with_path({"schema", "openAPIV3Schema", "properties", "status", "default"}, yaml("{phase: New}"));
  must(create(kCrds, definition.with_path({"spec", "versions"}, json::array({with_default}))));
  const Value made = must(create(kWidgets, widget("w")));
  EXPECT_EQ(made["status"], yaml("{phase: New}"));
  Request asked = request(Verb::Patch, kWidgets, "w");
  asked.subresource = "status";
  asked.body = yaml("{status: {phase: Done}}");
  must(object_of(asked));
  asked.body = yaml("{}");
  EXPECT_EQ(must(object_of(asked))["status"], yaml("{phase: Done}"));
  asked.body = yaml("{metadata: {labels: {a: b}}}");
  EXPECT_EQ(must(object_of(asked))["status"], yaml("{phase: Done}"));
}

TEST_F(Patch, merges) {
  must(create(kConfigMaps, config_map("a")));
  const Value next = must(patch(kConfigMaps, "a", PatchType::Merge, "{data: {k: null, l: '2'}, metadata: {labels: {x: z}}}"));
  EXPECT_EQ(next["data"], yaml("{l: '2'}"));
  EXPECT_EQ(kube::label(next, "x"), "z");
}

TEST_F(Patch, applies_json_patch_operations) {
  must(create(kConfigMaps, config_map("a")));
  const Value next = must(patch(kConfigMaps, "a", PatchType::Json,
                                "[{op: test, path: /data/k, value: '1'}, {op: replace, path: /data/k, value: '9'}]"));
  EXPECT_EQ(next["data"], yaml("{k: '9'}"));
  const auto failed = patch(kConfigMaps, "a", PatchType::Json,
                            "[{op: replace, path: /data/k, value: '7'}, {op: test, path: /data/k, value: '8'}]");
  EXPECT_EQ(reason(failed), "Invalid");
  EXPECT_EQ(must(get(kConfigMaps, "a"))["data"], yaml("{k: '9'}"));
}

TEST_F(Patch, of_nothing_is_not_found) {
  EXPECT_EQ(message(patch(kConfigMaps, "a", PatchType::Merge, "{data: {}}")), "configmaps \"a\" not found");
}

TEST_F(Patch, with_a_revision_of_its_own_may_conflict) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  must(update(kConfigMaps, config_map("a", "2")));
  const auto late = patch(kConfigMaps, "a", PatchType::Merge,
                          fmt::format("{{metadata: {{resourceVersion: '{}'}}, data: {{k: '3'}}}}", kube::revision(made)));
  EXPECT_EQ(reason(late), "Conflict");
}

TEST_F(Patch, without_one_never_conflicts) {
  must(create(kConfigMaps, config_map("a")));
  for (int i = 0; i < 20; ++i) {
    env_.spawn([](Patch& test, int number) -> Task<> {
      Request asked = request(Verb::Patch, kConfigMaps, "a");
      asked.body = json::object({{"data", json::object({{fmt::format("k{}", number), "x"}})}});
      const auto reply = co_await test.server_->call(asked);
      EXPECT_TRUE(reply) << reply.error().message;
    }(*this, i));
  }
  env_.run_until_idle();
  EXPECT_EQ(must(get(kConfigMaps, "a"))["data"].size(), 21u);
}

TEST_F(Patch, that_changes_nothing_writes_nothing) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(must(patch(kConfigMaps, "a", PatchType::Merge, "{data: {k: '1'}}")), made);
  EXPECT_EQ(store_->revision(), kube::revision(made));
}

TEST_F(Patch, cannot_rename) {
  must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(message(patch(kConfigMaps, "a", PatchType::Merge, "{metadata: {name: b}}")),
            "ConfigMap \"b\" is invalid: metadata.name: Invalid value: \"b\": field is immutable");
}

TEST_F(Patch, strategic_merge_is_refused_by_kind) {
  define_widgets();
  must(create(kWidgets, widget("w")));
  must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(reason(patch(kWidgets, "w", PatchType::StrategicMerge, "{spec: {size: 2}}")), "UnsupportedMediaType");
  EXPECT_EQ(message(patch(kWidgets, "w", PatchType::StrategicMerge, "{spec: {size: 2}}")),
            "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
            "application/merge-patch+json, application/apply-patch+yaml");
  EXPECT_EQ(must(patch(kConfigMaps, "a", PatchType::StrategicMerge, "{data: {k: '2'}}"))["data"], yaml("{k: '2'}"));
}

TEST_F(Patch, strategic_merge_knows_merge_keys_and_directives) {
  must(create(kPods, yaml("{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, finalizers: [x/a, x/b]}, "
                          "spec: {containers: [{name: a, image: one}, {name: b, image: two}]}}")));
  const Value next =
      must(patch(kPods, "p", PatchType::StrategicMerge,
                 "{metadata: {$deleteFromPrimitiveList/finalizers: [x/a], labels: {k: v}}, "
                 "spec: {$setElementOrder/containers: [{name: a}, {name: b}], containers: [{name: b, image: six}]}}"));
  EXPECT_EQ(next["metadata"]["finalizers"], yaml("[x/b]"));
  EXPECT_EQ(next["spec"]["containers"].item(0)["image"].str(), "one");
  EXPECT_EQ(next["spec"]["containers"].item(1)["image"].str(), "six");
  EXPECT_EQ(message(patch(kPods, "p", PatchType::StrategicMerge, "{spec: {containers: [{image: x}]}}")),
            "map: map[image:x] does not contain declared merge key: name");
  EXPECT_EQ(message(patch(kPods, "p", PatchType::StrategicMerge, "[]")), "a strategic merge patch must be an object");
}

TEST_F(Patch, of_every_type_that_changes_nothing_writes_nothing) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  for (const PatchType type : {PatchType::Merge, PatchType::StrategicMerge}) {
    EXPECT_EQ(must(patch(kConfigMaps, "a", type, "{data: {k: '1'}}")), made);
  }
  EXPECT_EQ(must(patch(kConfigMaps, "a", PatchType::Json, "[]")), made);
  EXPECT_EQ(store_->revision(), kube::revision(made));
}

TEST_F(Patch, in_a_dry_run_answers_and_writes_nothing) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  Request asked = request(Verb::Patch, kConfigMaps, "a");
  asked.patch_type = PatchType::StrategicMerge;
  asked.body = yaml(fmt::format("{{metadata: {{resourceVersion: '{}'}}, data: {{k: '2'}}}}", kube::revision(made)));
  asked.dry_run = true;
  const Value shown = must(object_of(asked));
  EXPECT_EQ(shown["data"], yaml("{k: '2'}"));
  EXPECT_EQ(kube::revision(shown), kube::revision(made));
  EXPECT_EQ(must(get(kConfigMaps, "a")), made);
}

TEST_F(Patch, with_unknown_fields_is_refused_when_strict_and_warned_of_when_asked) {
  must(create(kConfigMaps, config_map("a")));
  Request asked = request(Verb::Patch, kConfigMaps, "a");
  asked.body = yaml("{metadata: {colour: red}, dato: {}}");
  asked.field_validation = "Strict";
  const auto refused = object_of(asked);
  EXPECT_EQ(reason(refused), "Invalid");
  EXPECT_TRUE(message(refused).starts_with(" \"\" is invalid: patch: Invalid value: \"{")) << message(refused);
  EXPECT_TRUE(message(refused).ends_with("strict decoding error: unknown field \"dato\", unknown field \"metadata.colour\""))
      << message(refused);
  asked.field_validation = "Warn";
  const auto warned = call(asked);
  ASSERT_TRUE(warned) << warned.error().message;
  EXPECT_EQ(warned->warnings, (std::vector<std::string>{"unknown field \"dato\"", "unknown field \"metadata.colour\""}));
}

TEST_F(Patch, apply_refuses_fields_that_are_not_declared) {
  const auto refused =
      apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, dato: {k: '1'}}", "mgr");
  EXPECT_EQ(message(refused),
            "failed to create typed patch object (default/a; v1, Kind=ConfigMap): .dato: field not declared in schema");
}

constexpr std::string_view kAppliedText =
    R"({"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a","namespace":"default"}})";

class ClientSideApplied : public Patch {
 protected:
  /// As `kubectl apply` creates it.
  Value made() {
    const Value body = config_map("a").with_path(
        {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}, std::string(kAppliedText) + "\n");
    Request asked = writing(Verb::Create, kConfigMaps, body);
    asked.field_manager = "kubectl-client-side-apply";
    return must(object_of(asked));
  }
  static std::string_view annotation(const Value& object) {
    return object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].as_string();
  }
};

TEST_F(ClientSideApplied, is_applied_by_kubectl_without_conflict_and_the_annotation_follows) {
  made();
  const Value next = must(apply(json::print(config_map("a", "<2>")), "kubectl"));
  EXPECT_EQ(next["data"], yaml("{k: '<2>'}"));
  EXPECT_EQ(annotation(next),
            "{\"apiVersion\":\"v1\",\"data\":{\"k\":\"\\u003c2\\u003e\"},\"kind\":\"ConfigMap\","
            "\"metadata\":{\"annotations\":{},\"name\":\"a\",\"namespace\":\"default\"}}\n");
  EXPECT_EQ(must(apply(json::print(config_map("a", "<2>")), "kubectl")), next);
}

TEST_F(ClientSideApplied, conflicts_with_other_managers_and_for_values_that_changed_since) {
  made();
  EXPECT_EQ(message(apply(json::print(config_map("a", "2")), "other")),
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.k");
  must(patch(kConfigMaps, "a", PatchType::Merge, "{data: {k: '7'}}", "editor"));
  EXPECT_EQ(message(apply(json::print(config_map("a", "2")), "kubectl")),
            "Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.k");
}

TEST_F(ClientSideApplied, migrates_by_a_json_patch_of_its_managed_fields) {
  made();
  const Value applied = must(apply(json::print(config_map("a")), "kubectl"));
  ASSERT_EQ(applied["metadata"]["managedFields"].size(), 2u);
  // As kubectl's csaupgrade sends it: the update entry's fields move into the apply entry, guarded by the revision.
  Value entry = applied["metadata"]["managedFields"].item(0);
  entry = entry.with("fieldsV1", applied["metadata"]["managedFields"].item(1)["fieldsV1"]);
  const Value operations = json::array(
      {json::object({{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", json::array({entry})}}),
       json::object(
           {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", applied["metadata"]["resourceVersion"]}})});
  const Value next = must(patch(kConfigMaps, "a", PatchType::Json, json::print(operations), "kubectl"));
  ASSERT_EQ(next["metadata"]["managedFields"].size(), 1u);
  EXPECT_EQ(next["metadata"]["managedFields"].item(0)["operation"].str(), "Apply");
  EXPECT_EQ(next["metadata"]["managedFields"].item(0)["fieldsV1"], entry["fieldsV1"]);
  EXPECT_EQ(reason(patch(kConfigMaps, "a", PatchType::Json, json::print(operations), "kubectl")), "Conflict");
}

TEST_F(Patch, apply_creates_what_is_missing) {
  Request asked = writing(Verb::Patch, kConfigMaps, config_map("a"));
  asked.patch_type = PatchType::Apply;
  asked.field_manager = "mgr";
  const auto reply = call(asked);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->code, 201);
  const Value& managed = reply->object["metadata"]["managedFields"];
  ASSERT_EQ(managed.size(), 1u);
  EXPECT_EQ(managed.item(0)["manager"].str(), "mgr");
  EXPECT_EQ(managed.item(0)["operation"].str(), "Apply");
  EXPECT_EQ(managed.item(0)["fieldsV1"], yaml("{f:data: {f:k: {}}}"));
  EXPECT_EQ(must(get(kConfigMaps, "a")), reply->object);
}

TEST_F(Patch, apply_to_an_object_that_is_gone_does_not_make_another) {
  const auto gone = apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, uid: '123'}}", "mgr");
  EXPECT_EQ(reason(gone), "Conflict");
  EXPECT_EQ(message(gone),
            "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object specified uid 123, and no "
            "existing object was found");
}

TEST_F(Patch, apply_again_writes_nothing) {
  const std::string body = json::print(config_map("a"));
  const Value made = must(apply(body, "mgr"));
  env_.advance(std::chrono::minutes{1});
  EXPECT_EQ(must(apply(body, "mgr")), made);
  EXPECT_EQ(store_->revision(), kube::revision(made));
}

TEST_F(Patch, apply_conflicts_with_other_owners_unless_forced) {
  must(apply(json::print(config_map("a")), "one"));
  const auto clash = apply(json::print(config_map("a", "2")), "two");
  EXPECT_EQ(reason(clash), "Conflict");
  EXPECT_EQ(message(clash), "Apply failed with 1 conflict: conflict with \"one\": .data.k");
  ASSERT_FALSE(clash);
  EXPECT_EQ(clash.error().causes, (std::vector<Cause>{{"FieldManagerConflict", "conflict with \"one\"", ".data.k"}}));
  const Value forced = must(apply(json::print(config_map("a", "2")), "two", true));
  EXPECT_EQ(forced["data"]["k"].str(), "2");
}

TEST_F(Patch, apply_takes_away_what_it_no_longer_says) {
  must(apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {k: '1', l: '2'}}", "mgr"));
  const Value next = must(apply(json::print(config_map("a")), "mgr"));
  EXPECT_EQ(next["data"], yaml("{k: '1'}"));
}

TEST_F(Patch, apply_defaults_and_validates) {
  define_widgets();
  const Value made = must(apply(json::print(widget("w")), "mgr", false, kWidgets));
  EXPECT_EQ(made["spec"], yaml("{size: 1, color: red}"));
  EXPECT_EQ(kube::generation(made), 1);
  EXPECT_EQ(reason(apply(json::print(widget("w", -3)), "mgr", false, kWidgets)), "Invalid");
  EXPECT_EQ(kube::generation(must(apply(json::print(widget("w", 3)), "mgr", false, kWidgets))), 2);
}

TEST_F(Patch, apply_to_status_writes_status_only) {
  define_widgets();
  must(create(kWidgets, widget("w")));
  const Value next =
      must(apply("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: default, labels: {a: b}}, "
                 "spec: {size: 9}, status: {phase: Done}}",
                 "mgr", true, kWidgets, "status"));
  EXPECT_EQ(next["status"], yaml("{phase: Done}"));
  EXPECT_EQ(next["spec"]["size"].as_int(), 1);
  EXPECT_FALSE(next["metadata"].has("labels"));
  EXPECT_EQ(message(apply(
                "{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, namespace: default}, status: {phase: Done}}",
                "mgr", true, kWidgets, "status")),
            "widgets.example.com \"x\" not found");
}

TEST_F(Patch, checks_its_options) {
  const std::string head = "PatchOptions.meta.k8s.io \"\" is invalid: ";
  EXPECT_EQ(message(apply(json::print(config_map("a")), "")),
            head + "fieldManager: Required value: is required for apply patch");
  Request asked = request(Verb::Patch, kConfigMaps, "a");
  asked.body = Value::empty_object();
  asked.force = true;
  EXPECT_EQ(message(object_of(asked)), head + "force: Forbidden: may not be specified for non-apply patch");
  EXPECT_EQ(message(patch(kConfigMaps, "a", PatchType::Merge, "{}", std::string(129, 'x'))),
            head + "fieldManager: Too long: may not be more than 128 bytes");
  EXPECT_EQ(message(patch(kConfigMaps, "a", PatchType::Merge, "{}", "a\x01")),
            head + "fieldManager: Invalid value: \"a\\u0001\": should only contain printable characters");
  must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(message(patch(kConfigMaps, "a", PatchType::Merge, "[]")), "a merge patch must be an object");
}

}  // namespace
}  // namespace slipway::server

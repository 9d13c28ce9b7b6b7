#include "kube/apply.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/schema.h"

namespace slipway::kube {
namespace {

using json::Value;

Time at(std::int64_t second) { return Time(std::chrono::seconds(1767225600 + second)); }  // 2026-01-01T00:00:00Z

constexpr std::string_view kSchema = R"(
type: object
properties:
  spec:
    type: object
    properties:
      replicas: {type: integer}
      paused: {type: boolean}
      command: {type: array, items: {type: string}}
      tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      selector: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true}
      ports:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [port, protocol]
        items:
          type: object
          required: [port]
          properties:
            port: {type: integer}
            protocol: {type: string, default: TCP}
            name: {type: string}
  status:
    type: object
    properties:
      phase: {type: string}
      count: {type: integer}
)";

ResourceType widgets() {
  ResourceType type;
  type.resource = {"example.com", "v1", "widgets"};
  type.kind = {"example.com", "v1", "Widget"};
  type.has_status = true;
  type.schema = Schema::compile(yaml(kSchema)).value();
  return type;
}

Value widget(std::string_view rest) {
  return yaml(fmt::format("{{apiVersion: example.com/v1, kind: Widget, metadata: {{name: w}}, {}}}", rest));
}

Writer writer(std::string manager, std::string subresource = "") { return {std::move(manager), "example.com/v1", subresource}; }

const Value& managed(const Value& object) { return object["metadata"]["managedFields"]; }

/// One line per row: manager operation seconds fields.
std::string owners(const Value& object) {
  std::string out;
  for (const Value& row : managed(object).items()) {
    const std::string_view time = row["time"].as_string();
    out += fmt::format("{}{} {} {} {}\n", row["manager"].as_string(),
                       row.has("subresource") ? "/" + row["subresource"].str() : "", row["operation"].as_string(),
                       time.substr(std::min<std::size_t>(17, time.size()), 2), json::print(row["fieldsV1"]));
  }
  return out;
}

/// A widget as it changes under several writers, one second after the other.
class Story {
 public:
  Status applied(std::string_view manager, std::string_view rest, bool force = false, std::string subresource = "") {
    auto result =
        apply(type_, live_, widget(rest), writer(std::string(manager), std::move(subresource)), force, at(++seconds_));
    if (!result) return result.error();
    live_ = *result;
    return {};
  }
  void updated(std::string_view manager, std::string_view rest, std::string subresource = "") {
    Value next = widget(rest);
    if (!managed(live_).is_null()) next = next.with_path({"metadata", "managedFields"}, managed(live_));
    live_ = track_update(type_, live_, next, writer(std::string(manager), std::move(subresource)), at(++seconds_));
  }
  const Value& live() const { return live_; }
  Value& live() { return live_; }
  Value spec() const { return live_["spec"]; }
  const ResourceType& type() const { return type_; }

 private:
  ResourceType type_ = widgets();
  Value live_;
  int seconds_ = 0;
};

TEST(Apply, creates_an_object_that_its_applier_owns) {
  Story story;
  EXPECT_EQ(story.applied("a", "spec: {replicas: 1, ports: [{port: 80}], command: [x, z], tags: [t]}").message, "");
  EXPECT_EQ(owners(story.live()),
            R"(a Apply 01 {"f:spec":{"f:command":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},)"
            R"("f:replicas":{},"f:tags":{"v:\"t\"":{}}}})"
            "\n");
  const Value& row = managed(story.live()).item(0);
  EXPECT_EQ(
      json::print(row.without("fieldsV1")),
      R"({"manager":"a","operation":"Apply","apiVersion":"example.com/v1","time":"2026-01-01T00:00:01Z","fieldsType":"FieldsV1"})");
}

TEST(Apply, gives_back_the_live_object_when_nothing_changes) {
  Story story;
  story.applied("a", "spec: {replicas: 1, tags: [t]}");
  const Value before = story.live();
  story.applied("a", "spec: {tags: [t], replicas: 1}");
  EXPECT_TRUE(story.live().is_same(before));
}

TEST(Apply, lets_two_appliers_own_what_they_agree_on) {
  Story story;
  story.applied("a", "spec: {replicas: 1}");
  EXPECT_EQ(story.applied("b", "spec: {replicas: 1}").message, "");
  EXPECT_EQ(owners(story.live()), "a Apply 01 {\"f:spec\":{\"f:replicas\":{}}}\nb Apply 02 {\"f:spec\":{\"f:replicas\":{}}}\n");
  story.applied("a", "spec: {}");  // b keeps it
  EXPECT_EQ(story.spec(), yaml("{replicas: 1}"));
  story.applied("b", "spec: {}");
  EXPECT_EQ(story.spec(), Value::empty_object());
}

TEST(Apply, refuses_to_change_what_another_manager_owns) {
  Story story;
  story.updated("kubectl-client-side-apply", "spec: {replicas: 1, paused: true}");
  const Value before = story.live();
  const Status one = story.applied("a", "spec: {replicas: 2}");
  EXPECT_EQ(one.reason, Reason::Conflict);
  EXPECT_EQ(one.message,
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using example.com/v1: .spec.replicas");
  EXPECT_EQ(one.causes,
            (std::vector<Cause>{{"FieldManagerConflict", "conflict with \"kubectl-client-side-apply\" using example.com/v1",
                                 ".spec.replicas"}}));
  EXPECT_TRUE(story.live().is_same(before));
}

TEST(Apply, lists_several_conflicts_by_manager) {
  Story story;
  story.applied("b", "spec: {replicas: 1, ports: [{port: 80, name: web}]}");
  story.updated("a", "spec: {replicas: 1, ports: [{port: 80, name: web}], paused: true}");
  const Status status = story.applied("c", "spec: {replicas: 2, paused: false, ports: [{port: 80, name: other}]}");
  EXPECT_EQ(status.message,
            "Apply failed with 3 conflicts: conflicts with \"a\" using example.com/v1:\n- .spec.paused\n"
            "conflicts with \"b\":\n- .spec.replicas\n- .spec.ports[port=80,protocol=\"TCP\"].name");
  EXPECT_EQ(status.causes.size(), 3u);
}

TEST(Apply, takes_fields_from_others_when_forced) {
  Story story;
  story.applied("a", "spec: {replicas: 1, paused: true}");
  EXPECT_EQ(story.applied("b", "spec: {replicas: 2}", true).message, "");
  EXPECT_EQ(story.spec(), yaml("{replicas: 2, paused: true}"));
  EXPECT_EQ(owners(story.live()), "a Apply 01 {\"f:spec\":{\"f:paused\":{}}}\nb Apply 02 {\"f:spec\":{\"f:replicas\":{}}}\n");
}

TEST(Apply, removes_what_it_applied_before_and_nobody_else_owns) {
  Story story;
  story.applied("a", "spec: {replicas: 1, paused: true, tags: [x, w], ports: [{port: 80, name: web}, {port: 443}]}");
  story.updated("b",
                "spec: {replicas: 1, paused: true, tags: [x, w, z], ports: [{port: 80, name: web}, {port: 443, name: tls}]}");
  EXPECT_EQ(story.applied("a", "spec: {paused: true, tags: [w], ports: [{port: 80}]}").message, "");
  EXPECT_EQ(story.spec(), yaml("{paused: true, tags: [w, z], ports: [{port: 80}]}"));
}

TEST(Apply, keeps_an_item_that_another_applier_owns_too) {
  Story story;
  story.applied("a", "spec: {ports: [{port: 80, name: web}, {port: 443}]}");
  story.applied("b", "spec: {ports: [{port: 443}]}");
  story.applied("a", "spec: {ports: [{port: 80, name: web}]}");
  EXPECT_EQ(story.spec(), yaml("{ports: [{port: 80, name: web}, {port: 443}]}"));
  story.applied("b", "spec: {ports: []}");
  EXPECT_EQ(story.spec(), yaml("{ports: [{port: 80, name: web}]}"));
}

TEST(Apply, never_drops_metadata_that_nobody_owns) {
  Story story;
  story.applied("a", "spec: {replicas: 1}");
  story.live() = story.live().with_path({"metadata", "uid"}, "u").with_path({"metadata", "resourceVersion"}, "7");
  Value labelled = widget("spec: {replicas: 1}").with_path({"metadata", "labels"}, yaml("{x: z}"));
  auto with_label = apply(story.type(), story.live(), labelled, writer("a"), false, at(5)).value();
  auto without_label = apply(story.type(), with_label, widget("spec: {replicas: 1}"), writer("a"), false, at(6)).value();
  EXPECT_EQ(with_label["metadata"].without("managedFields"), yaml("{name: w, uid: u, resourceVersion: '7', labels: {x: z}}"));
  EXPECT_EQ(without_label["metadata"].without("managedFields"), yaml("{name: w, uid: u, resourceVersion: '7'}"));
}

TEST(Apply, leaves_no_null_where_it_takes_the_last_member) {
  Story story;
  story.updated("b", "spec: {free: {x: {}}}");
  story.applied("a", "spec: {free: {x: {y: 1}}}");
  story.applied("a", "spec: {}");
  EXPECT_EQ(json::print(story.live()).find("null"), std::string::npos) << json::print(story.live());
}

TEST(Apply, orders_items_as_configured_and_keeps_the_place_of_others) {
  Story story;
  story.updated("b", "spec: {ports: [{port: 1}, {port: 2}, {port: 3}, {port: 4}]}");
  story.applied("a", "spec: {ports: [{port: 4}, {port: 5}, {port: 2}]}");
  EXPECT_EQ(story.spec()["ports"], yaml("[{port: 1}, {port: 3}, {port: 4}, {port: 5}, {port: 2}]"));
}

TEST(Apply, tells_items_apart_by_keys_that_have_defaults) {
  Story story;
  story.updated("b", "spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}");
  EXPECT_EQ(story.applied("a", "spec: {ports: [{port: 53, name: dns}]}").message, "");
  EXPECT_EQ(story.spec()["ports"], yaml("[{port: 53, protocol: TCP, name: dns}, {port: 53, protocol: UDP}]"));
}

TEST(Apply, replaces_atomic_lists_and_maps_as_a_whole) {
  Story story;
  story.applied("a", "spec: {command: [a, b], selector: {x: '1', y: '2'}}");
  const Status status = story.applied("b", "spec: {command: [a], selector: {x: '1'}}");
  EXPECT_EQ(status.causes.size(), 2u);
  story.applied("a", "spec: {command: [c], selector: {z: '3'}}");
  EXPECT_EQ(story.spec(), yaml("{command: [c], selector: {z: '3'}}"));
}

TEST(Apply, adds_members_to_a_set_that_others_add_to) {
  Story story;
  story.applied("a", "spec: {tags: [x]}");
  EXPECT_EQ(story.applied("b", "spec: {tags: [w]}").message, "");
  EXPECT_EQ(story.spec()["tags"], yaml("[x, w]"));
  EXPECT_EQ(story.applied("c", "spec: {tags: [w, w]}").causes.front().message, "duplicate entries for key [=\"w\"]");
}

TEST(Apply, gives_what_was_there_before_the_first_apply_an_owner) {
  Story story;
  story.live() = widget("spec: {replicas: 1}");
  const Status status = story.applied("a", "spec: {replicas: 2}");
  EXPECT_EQ(status.message,
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using example.com/v1: .spec.replicas");
  story.applied("a", "spec: {paused: true}");
  EXPECT_EQ(
      owners(story.live()),
      "a Apply 02 {\"f:spec\":{\"f:paused\":{}}}\nbefore-first-apply Update 02 {\"f:spec\":{\".\":{},\"f:replicas\":{}}}\n");
}

TEST(Apply, keeps_the_status_endpoint_apart) {
  Story story;
  story.applied("a", "spec: {replicas: 1}, status: {phase: Odd}");
  EXPECT_FALSE(story.live().has("status"));
  story.applied("a", "spec: {replicas: 9}, status: {phase: Running}", false, "status");
  EXPECT_EQ(story.spec(), yaml("{replicas: 1}"));
  EXPECT_EQ(story.live()["status"], yaml("{phase: Running}"));
  EXPECT_EQ(owners(story.live()),
            "a Apply 01 {\"f:spec\":{\"f:replicas\":{}}}\na/status Apply 02 {\"f:status\":{\"f:phase\":{}}}\n");
  const Status status = story.applied("b", "status: {phase: Failed}", false, "status");
  EXPECT_EQ(status.message, "Apply failed with 1 conflict: conflict with \"a\" with subresource \"status\": .status.phase");
}

TEST(Apply, refuses_managed_fields_and_other_versions) {
  Story story;
  const Value config = widget("spec: {}").with_path({"metadata", "managedFields"}, Value::empty_array());
  auto result = apply(story.type(), Value(), config, writer("a"), false, at(0));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::BadRequest);
  EXPECT_EQ(result.error().message, "metadata.managedFields must be nil");
  result = apply(story.type(), Value(), config.with("apiVersion", "example.com/v2"), writer("a"), false, at(0));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::BadRequest);
  EXPECT_EQ(result.error().message,
            "Incorrect version specified in apply patch. Specified patch version: example.com/v2, expected: example.com/v1");
}

TEST(Apply, says_where_a_configuration_does_not_fit) {
  Story story;
  const Status status = story.applied("a", "spec: {replicas: many, unknown: 1, ports: [{name: web}], tags: [1]}");
  EXPECT_EQ(status.reason, Reason::Invalid);
  EXPECT_TRUE(status.message.starts_with("failed to create typed patch object (/w; example.com/v1, Kind=Widget): errors:\n"));
  std::vector<std::string> found;
  for (const Cause& cause : status.causes) found.push_back(cause.field + ": " + cause.message);
  EXPECT_EQ(found, (std::vector<std::string>{".spec.replicas: expected numeric (int or float), got \"many\"",
                                             ".spec.unknown: field not declared in schema",
                                             ".spec.tags[=1]: expected string, got 1"}));
  EXPECT_TRUE(story.live().is_null());
}

TEST(Apply, merges_maps_and_replaces_lists_where_there_is_no_schema) {
  Story story;
  ResourceType type = story.type();
  type.schema = nullptr;
  Value live = apply(type, Value(), widget("spec: {m: {a: 1}, l: [1, 2]}"), writer("a"), false, at(1)).value();
  live = apply(type, live, widget("spec: {m: {b: 2}}"), writer("b"), false, at(2)).value();
  EXPECT_EQ(live["spec"], yaml("{m: {a: 1, b: 2}, l: [1, 2]}"));
  EXPECT_FALSE(apply(type, live, widget("spec: {l: [3]}"), writer("b"), false, at(3)));
  live = apply(type, live, widget("spec: {m: {a: 1}}"), writer("a"), false, at(4)).value();
  EXPECT_EQ(live["spec"], yaml("{m: {a: 1, b: 2}}"));
}

TEST(TrackUpdate, gives_a_creator_everything_but_what_identifies_the_object) {
  Story story;
  story.updated("c", "spec: {replicas: 1, tags: [x]}, status: {phase: New}");
  EXPECT_EQ(owners(story.live()),
            "c Update 01 {\"f:spec\":{\".\":{},\"f:replicas\":{},\"f:tags\":{\".\":{},\"v:\\\"x\\\"\":{}}}}\n");
}

TEST(TrackUpdate, moves_a_time_only_when_something_was_won) {
  Story story;
  story.updated("c", "spec: {replicas: 1, paused: true}");
  const Value before = story.live();
  story.updated("c", "spec: {replicas: 1, paused: true}");
  EXPECT_TRUE(managed(story.live()).is_same(managed(before)));
  story.updated("c", "spec: {replicas: 1}");  // only loses
  EXPECT_EQ(owners(story.live()), "c Update 01 {\"f:spec\":{\".\":{},\"f:replicas\":{}}}\n");
  story.updated("c", "spec: {replicas: 2}");
  EXPECT_EQ(owners(story.live()), "c Update 04 {\"f:spec\":{\".\":{},\"f:replicas\":{}}}\n");
}

TEST(TrackUpdate, takes_changed_fields_from_their_owners) {
  Story story;
  story.applied("a", "spec: {replicas: 1, ports: [{port: 80, name: web}]}");
  story.updated("u", "spec: {replicas: 2, ports: [{port: 80, name: www}]}");
  EXPECT_EQ(owners(story.live()),
            R"(a Apply 01 {"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}})"
            "\n"
            R"(u Update 02 {"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}},"f:replicas":{}}})"
            "\n");
  story.updated("v", "spec: {}");
  EXPECT_TRUE(managed(story.live()).is_null()) << owners(story.live());
}

TEST(TrackUpdate, keeps_a_row_per_endpoint) {
  Story story;
  story.updated("c", "spec: {replicas: 1}");
  story.updated("c", "spec: {replicas: 1}, status: {phase: Running}", "status");
  story.updated("c", "spec: {replicas: 1}, status: {phase: Running, count: 3}", "status");
  EXPECT_EQ(owners(story.live()),
            "c Update 01 {\"f:spec\":{\".\":{},\"f:replicas\":{}}}\n"
            "c/status Update 03 {\"f:status\":{\".\":{},\"f:count\":{},\"f:phase\":{}}}\n");
}

TEST(TrackUpdate, joins_the_oldest_updaters_beyond_ten) {
  Story story;
  std::string labels;
  for (int i = 0; i < 13; ++i) {
    labels += fmt::format("l{:02}: x, ", i);
    const Value next =
        widget(fmt::format("spec: {{free: {{{}}}}}", labels)).with_path({"metadata", "managedFields"}, managed(story.live()));
    story.live() = track_update(story.type(), story.live(), next, writer(fmt::format("m{:02}", i)), at(i));
  }
  ASSERT_EQ(managed(story.live()).size(), 10u);
  const Value& oldest = managed(story.live()).item(0);
  EXPECT_EQ(oldest["manager"].as_string(), "ancient-changes");
  EXPECT_EQ(oldest["time"].as_string(), "2026-01-01T00:00:03Z");
  EXPECT_EQ(json::print(oldest["fieldsV1"]),
            R"({"f:spec":{".":{},"f:free":{".":{},"f:l00":{},"f:l01":{},"f:l02":{},"f:l03":{}}}})");
  EXPECT_EQ(managed(story.live()).item(9)["manager"].as_string(), "m12");
}

TEST(TrackUpdate, forgets_all_owners_when_a_client_resets_them) {
  Story story;
  story.updated("c", "spec: {replicas: 1}");
  for (const char* reset : {"[]", "[{}]"}) {
    const Value sent = story.live().with_path({"metadata", "managedFields"}, yaml(reset));
    const Value result = track_update(story.type(), story.live(), sent, writer("c"), at(9));
    EXPECT_FALSE(result["metadata"].has("managedFields"));
    // No manager is recorded again until one applies.
    const Value later = track_update(story.type(), result, result.with_path({"spec", "replicas"}, 5), writer("c"), at(10));
    EXPECT_FALSE(later["metadata"].has("managedFields"));
  }
}

TEST(TrackUpdate, takes_rows_from_a_client_unless_they_are_malformed) {
  Story story;
  story.updated("c", "spec: {replicas: 1, paused: true}");
  auto sent_with = [&](std::string_view rows, std::string subresource) {
    const Value sent = story.live().with_path({"metadata", "managedFields"}, yaml(rows));
    return owners(track_update(story.type(), story.live(), sent, writer("x", std::move(subresource)), at(9)));
  };
  const std::string stored = owners(story.live());
  const std::string_view edited =
      "[{manager: d, operation: Update, apiVersion: example.com/v1, time: '2026-01-01T02:00:05+02:00', fieldsType: FieldsV1,"
      " fieldsV1: {'f:spec': {'f:replicas': {}, 'f:paused': {}}}}]";
  EXPECT_EQ(sent_with(edited, ""), "d Update 05 {\"f:spec\":{\"f:paused\":{},\"f:replicas\":{}}}\n");
  EXPECT_EQ(sent_with(edited, "status"), stored);
  EXPECT_EQ(sent_with("[{manager: d, operation: Replace, apiVersion: v1, fieldsType: FieldsV1}]", ""), stored);
  EXPECT_EQ(sent_with("[{manager: d, operation: Update, apiVersion: v1, fieldsType: FieldsV2}]", ""), stored);
  EXPECT_EQ(sent_with("[{manager: d, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {x: {}}}]", ""),
            stored);
}

TEST(TrackUpdate, owns_metadata_that_users_write) {
  Story story;
  story.updated("c", "spec: {}");
  Value next = story.live()
                   .with_path({"metadata", "labels"}, yaml("{a: b}"))
                   .with_path({"metadata", "finalizers"}, yaml("[x/y]"))
                   .with_path({"metadata", "generation"}, 2)
                   .with_path({"metadata", "ownerReferences"}, yaml("[{apiVersion: v1, kind: K, name: n, uid: u}]"));
  next = track_update(story.type(), story.live(), next, writer("d"), at(3));
  EXPECT_EQ(owners(next),
            "c Update 01 {\"f:spec\":{}}\n"
            R"(d Update 03 {"f:metadata":{"f:finalizers":{".":{},"v:\"x/y\"":{}},"f:labels":{".":{},"f:a":{}},)"
            R"("f:ownerReferences":{".":{},"k:{\"uid\":\"u\"}":{}}}})"
            "\n");
}

/// The text of the row that the update gives its writer.
std::size_t tracked_bytes(const Value& live, const Value& updated) {
  const Value tracked = track_update(widgets(), live, updated, writer("u"), at(9));
  for (const Value& row : tracked["metadata"]["managedFields"].items()) {
    if (row["manager"].as_string() == "u") return json::print(row["fieldsV1"]).size();
  }
  return 0;
}

TEST(LeastTrackedBytes, are_never_more_than_what_is_tracked) {
  const Value live = track_update(widgets(), Value(), widget("spec: {replicas: 1, free: {a: {b: 1}}}"), writer("first"), at(1));
  for (const char* spec : {"spec: {}", "spec: {replicas: 1, paused: true}", "spec: {free: {a: {b: 1, c: {d: 2}}, e: []}}",
                           "spec: {selector: {x: y, z: w}}", "spec: {ports: [{port: 1, name: a}, {port: 2}], tags: [x, y]}",
                           "spec: {free: {a: 1}}", "status: {phase: x, count: 3}", "other: {a: b}"}) {
    for (const Value& before : {Value(), live}) {
      const Value updated = widget(spec);
      EXPECT_LE(least_tracked_bytes(widgets(), before, updated), tracked_bytes(before, updated)) << spec;
    }
  }
}

TEST(LeastTrackedBytes, are_nearly_all_for_a_large_map_and_none_for_what_is_not_tracked) {
  json::ObjectBuilder many;
  for (int i = 0; i < 1000; ++i) many.add(fmt::format("key{}", i), i);
  const Value large = widget("spec: {}").with_path({"spec", "free"}, many.build());
  EXPECT_GE(least_tracked_bytes(widgets(), Value(), large) * 100, tracked_bytes(Value(), large) * 99);
  EXPECT_EQ(least_tracked_bytes(widgets(), widget("spec: {}"), large), 0u);  // without owners, which an update does not begin
  const Value atomic = widget("spec: {}").with_path({"spec", "selector"}, large["spec"]["free"]);
  EXPECT_LE(least_tracked_bytes(widgets(), Value(), atomic), 40u);
}

}  // namespace
}  // namespace slipway::kube

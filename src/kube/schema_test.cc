#include "kube/schema.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/builtin.h"
#include "kube/format.h"
#include "kube/object.h"
#include "kube/schema_node.h"

namespace slipway::kube {
namespace {

/// A CRD schema whose spec is the given one.
std::shared_ptr<const Schema> with_spec(std::string_view spec) {
  const json::Value schema = json::object({{"type", "object"}, {"properties", json::object({{"spec", yaml(spec)}})}});
  const auto compiled = Schema::compile(schema);
  EXPECT_TRUE(compiled.has_value()) << (compiled ? "" : compiled.error().message);
  return compiled ? *compiled : nullptr;
}

std::vector<std::string> lines(const std::vector<Cause>& causes) {
  std::vector<std::string> out;
  for (const Cause& cause : causes) out.push_back(cause.field + ": " + cause.message);
  return out;
}

using Lines = std::vector<std::string>;

Lines faults_of(std::string_view spec, std::string_view value) {
  return lines(with_spec(spec)->validate(json::object({{"spec", yaml(value)}})));
}

Lines structural(std::string_view schema) {
  const auto compiled = Schema::compile(yaml(schema), "schema");
  return compiled ? Lines{} : lines(compiled.error().causes);
}

TEST(Schema, names_the_type_found_and_the_type_wanted) {
  const std::string_view spec =
      "{type: object, properties: {x: {type: integer}, s: {type: string}, z: {x-kubernetes-int-or-string: true}}}";
  EXPECT_EQ(faults_of(spec, "{x: string, s: 1.5, z: true}"),
            (Lines{"spec.x: Invalid value: \"string\": spec.x in body must be of type integer: \"string\"",
                   "spec.s: Invalid value: \"number\": spec.s in body must be of type string: \"number\"",
                   "spec.z: Invalid value: \"boolean\": spec.z in body must be of type integer,string: \"boolean\""}));
  EXPECT_EQ(faults_of(spec, "{x: 2.0, s: a, z: 50%}"), Lines{});
}

TEST(Schema, reports_missing_required_fields) {
  EXPECT_EQ(faults_of("{type: object, required: [a], properties: {a: {type: string}}}", "{}"),
            (Lines{"spec.a: Required value"}));
}

TEST(Schema, lists_the_values_an_enum_supports) {
  EXPECT_EQ(faults_of("{type: string, enum: [a, b]}", "c"),
            (Lines{"spec: Unsupported value: \"c\": supported values: \"a\", \"b\""}));
}

TEST(Schema, words_ranges_lengths_and_patterns_as_upstream) {
  EXPECT_EQ(faults_of("{type: integer, minimum: 0, maximum: 9}", "-1"),
            (Lines{"spec: Invalid value: -1: spec in body should be greater than or equal to 0"}));
  EXPECT_EQ(faults_of("{type: integer, maximum: 9, exclusiveMaximum: true}", "9"),
            (Lines{"spec: Invalid value: 9: spec in body should be less than 9"}));
  EXPECT_EQ(faults_of("{type: string, maxLength: 2}", "äöü"), (Lines{"spec: Too long: may not be more than 2 bytes"}));
  EXPECT_EQ(faults_of("{type: string, minLength: 1}", "''"),
            (Lines{"spec: Invalid value: \"\": spec in body should be at least 1 chars long"}));
  EXPECT_EQ(faults_of("{type: string, pattern: '^[a-z]+$'}", "A1"),
            (Lines{"spec: Invalid value: \"A1\": spec in body should match '^[a-z]+$'"}));
  EXPECT_EQ(faults_of("{type: array, items: {type: string}, minItems: 1}", "[]"),
            (Lines{"spec: Invalid value: 0: spec in body should have at least 1 items"}));
  EXPECT_EQ(faults_of("{type: array, items: {type: string}, maxItems: 1}", "[a, b]"),
            (Lines{"spec: Too many: 2: must have at most 1 items"}));
  EXPECT_EQ(faults_of("{type: number, multipleOf: 0.5}", "1.25"),
            (Lines{"spec: Invalid value: 1.25: spec in body should be a multiple of 0.5"}));
  EXPECT_EQ(faults_of("{type: string, format: date-time}", "today"),
            (Lines{"spec: Invalid value: \"today\": spec in body must be of type date-time: \"today\""}));
  EXPECT_EQ(faults_of("{type: integer, format: int32}", "3000000000"),
            (Lines{"spec: Invalid value: 3000000000: spec in body must be of type integer with format int32"}));
}

TEST(Schema, judges_logical_operators) {
  const std::string_view one_of =
      "{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}";
  EXPECT_EQ(faults_of(one_of, "{a: x}"), Lines{});
  EXPECT_EQ(
      faults_of(one_of, "{a: x, b: z}"),
      (Lines{
          "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found 2 valid alternatives"}));
  EXPECT_EQ(faults_of(one_of, "{}"),
            (Lines{"spec.a: Required value",
                   "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found none valid"}));
  EXPECT_EQ(faults_of("{type: string, not: {enum: [a]}}", "a"),
            (Lines{"<nil>: Invalid value: \"\": \"spec\" must not validate the schema (not)"}));
}

TEST(Schema, reports_repeated_keys_of_a_map_list_with_their_place) {
  const std::string_view spec =
      "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],"
      " items: {type: object, required: [name], properties: {name: {type: string}}}}";
  EXPECT_EQ(faults_of(spec, "[{name: a}, {name: b}, {name: a}]"), (Lines{"spec[2]: Duplicate value: {\"name\":\"a\"}"}));
}

TEST(Schema, finds_repeats_in_long_lists) {
  json::ArrayBuilder items;
  for (int i = 0; i < 100; ++i) items.add(i % 99);
  const auto schema = with_spec("{type: array, x-kubernetes-list-type: set, items: {type: integer}}");
  EXPECT_EQ(lines(schema->validate(json::object({{"spec", items.build()}}))), (Lines{"spec[99]: Duplicate value: 0"}));
}

TEST(Schema, tolerates_what_an_update_did_not_change) {
  const auto schema = with_spec(
      "{type: object, properties: {a: {type: integer, maximum: 5}, b: {type: string},"
      " l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id],"
      " items: {type: object, required: [id], properties: {id: {type: string}, v: {type: integer, maximum: 5}, w: {type: "
      "integer}}}}}}");
  const json::Value old = yaml("{spec: {a: 9, b: x, l: [{id: p, v: 9}]}}");
  EXPECT_EQ(schema->validate(old.with_path({"spec", "b"}, "z"), &old).size(), 0U);
  EXPECT_EQ(schema->validate(yaml("{spec: {a: 9, b: x, l: [{id: q, v: 1}, {id: p, v: 9, w: 1}]}}"), &old).size(), 0U);
  EXPECT_EQ(lines(schema->validate(old.with_path({"spec", "a"}, 8), &old)),
            (Lines{"spec.a: Invalid value: 8: spec.a in body should be less than or equal to 5"}));
}

TEST(Schema, shares_what_it_does_not_change) {
  const auto schema = with_spec(
      "{type: object, properties: {a: {type: object, properties: {b: {type: string, default: x}}}, c: {type: string}}}");
  const json::Value whole = yaml("{apiVersion: g/v1, kind: K, metadata: {name: a}, spec: {a: {b: w}, c: z}}");
  EXPECT_TRUE(schema->prune(whole).is_same(whole));
  EXPECT_TRUE(schema->fill_defaults(whole).is_same(whole));
}

TEST(Schema, keeps_the_metadata_of_an_object_and_drops_what_is_none) {
  const auto schema = with_spec("{type: object}");
  std::vector<std::string> dropped;
  const json::Value pruned =
      schema->prune(yaml("{apiVersion: g/v1, kind: K, metadata: {name: a, labels: {x: z}, foo: 1}, other: 1}"), &dropped);
  EXPECT_EQ(json::print(pruned), R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","labels":{"x":"z"}}})");
  EXPECT_EQ(dropped, (Lines{"metadata.foo", "other"}));
}

TEST(Schema, treats_nulls_as_absent) {
  const auto schema = with_spec(
      "{type: object, properties: {a: {type: string}, b: {type: string, default: x}, c: {type: string, nullable: true}}}");
  const json::Value filled = schema->fill_defaults(
      yaml("{metadata: {creationTimestamp: null, labels: {app: null}}, spec: {a: null, b: null, c: null}}"));
  EXPECT_EQ(json::print(filled), R"({"metadata":{"labels":{"app":""}},"spec":{"b":"x","c":null}})");
}

TEST(Schema, places_share_the_value_of_their_default) {
  const std::string big(100'000, 'x');
  const auto schema = with_spec("{type: array, items: {type: object, properties: {a: {type: object, default: {b: " + big +
                                "}, properties: {b: {type: string}, c: {type: string, default: z}}}}}}");
  const json::Value two = schema->fill_defaults(yaml("{spec: [{}, {}]}"))["spec"];
  EXPECT_EQ(two.item(0)["a"]["c"].as_string(), "z");
  EXPECT_EQ(two.item(0)["a"]["b"].as_string(), big);
  EXPECT_TRUE(two.item(0)["a"].is_same(two.item(1)["a"]));
}

TEST(Schema, adds_no_more_defaults_than_an_object_may_be_large) {
  const auto schema = with_spec(
      "{type: array, items: {type: object, properties: {a: {type: string, default: " + std::string(100'000, 'x') + "}}}}");
  std::string items;
  for (int i = 0; i < 100'000; ++i) items += "{},";
  const json::Value filled = schema->fill_defaults(*json::parse("{\"spec\":[" + items + "{}]}"));
  std::size_t count = 0;
  for (const json::Value& item : filled["spec"].items()) count += item.has("a") ? 1 : 0;
  EXPECT_EQ(filled["spec"].size(), 100'001U);
  EXPECT_EQ(count, kMostDefaultBytes / 100'003);
}

TEST(Schema, tells_of_so_many_dropped_fields_and_no_more) {
  const auto schema = with_spec("{type: object}");
  std::string fields;
  for (int i = 0; i < 200'000; ++i) fields += "\"f" + std::to_string(i) + "\":1,";
  std::vector<std::string> dropped;
  const json::Value pruned = schema->prune(*json::parse("{\"spec\":{" + fields + "\"z\":1}}"), &dropped);
  EXPECT_EQ(json::print(pruned), "{\"spec\":{}}");
  EXPECT_EQ(dropped.size(), kMostDroppedFields);
}

TEST(Schema, lets_a_crd_narrow_the_name) {
  const auto schema = Schema::compile(
      yaml("{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}"));
  ASSERT_TRUE(schema.has_value());
  EXPECT_EQ(lines((*schema)->validate(yaml("{metadata: {name: abcd, labels: {a: b}}}"))),
            (Lines{"metadata.name: Too long: may not be more than 3 bytes"}));
}

TEST(Schema, checks_embedded_objects) {
  const std::string_view spec =
      "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}";
  EXPECT_EQ(faults_of(spec, "{kind: K, metadata: {labels: 1}}"),
            (Lines{"spec.apiVersion: Required value: must not be empty",
                   "spec.metadata.labels: Invalid value: \"integer\": spec.metadata.labels in body must be of type object: "
                   "\"integer\""}));
}

TEST(StructuralSchema, needs_a_type_everywhere) {
  EXPECT_EQ(structural("{properties: {}}"), (Lines{"schema.type: Required value: must not be empty at the root"}));
  EXPECT_EQ(structural("{type: object, properties: {a: {properties: {b: {type: string}}}}}"),
            (Lines{"schema.properties[a].type: Required value: must not be empty for specified object fields"}));
  EXPECT_EQ(structural("{type: object, properties: {a: {type: array, items: {}}}}"),
            (Lines{"schema.properties[a].items.type: Required value: must not be empty for specified array items"}));
}

TEST(StructuralSchema, refuses_what_json_schema_has_beyond) {
  EXPECT_EQ(
      structural("{type: object, properties: {a: {type: object, properties: {b: {type: string}}, additionalProperties: {type: "
                 "string}}}}"),
      (Lines{
          "schema.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"}));
  EXPECT_EQ(structural("{type: object, properties: {a: {type: string, $ref: x}}}"),
            (Lines{"schema.properties[a].$ref: Forbidden: $ref is not supported"}));
  EXPECT_EQ(structural("{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: string}}}}"),
            (Lines{"schema.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
                   "complexity becomes quadratic"}));
}

TEST(StructuralSchema, keeps_structure_out_of_logical_operators) {
  EXPECT_EQ(structural("{type: object, anyOf: [{type: object}]}"),
            (Lines{"schema.anyOf[0].type: Forbidden: must be empty to be structural"}));
  EXPECT_EQ(structural("{type: object, anyOf: [{properties: {a: {minLength: 1}}}]}"),
            (Lines{"schema.properties[a]: Required value: because it is defined in schema.anyOf[0].properties[a]"}));
  EXPECT_EQ(
      structural(
          "{type: object, properties: {a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}}}"),
      Lines{});
}

TEST(StructuralSchema, wants_keys_of_map_lists_declared_and_present) {
  EXPECT_EQ(
      structural("{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, m],"
                 " items: {type: object, properties: {k: {type: string}}}}}}"),
      (Lines{"schema.properties[a].items.properties[k].default: Required value: this property is in "
             "x-kubernetes-list-map-keys, so it must "
             "have a default or be a required property",
             "schema.properties[a].x-kubernetes-list-map-keys[1]: Invalid value: \"m\": entries must all be names of item "
             "properties"}));
}

TEST(StructuralSchema, refuses_defaults_that_do_not_fit) {
  EXPECT_EQ(structural("{type: object, properties: {a: {type: integer, default: x}}}"),
            (Lines{"schema.properties[a].default: Invalid value: \"string\":  in body must be of type integer: \"string\""}));
  EXPECT_EQ(structural("{type: object, properties: {a: {type: object, default: {c: 1}, properties: {b: {type: string}}}}}"),
            (Lines{"schema.properties[a].default: Invalid value: {\"c\":1}: must not have unknown fields: c"}));
}

TEST(StructuralSchema, refuses_patterns_that_are_no_re2) {
  EXPECT_EQ(structural("{type: object, properties: {a: {type: string, pattern: '(?=x)'}}}"),
            (Lines{"schema: Invalid value: \"(?=x)\": must be a valid regular expression (RE2)"}));
}

TEST(Format, knows_good_from_bad) {
  struct Case {
    std::string_view format, good, bad;
  };
  constexpr std::array kCases{
      Case{"bsonobjectid", "507f1f77bcf86cd799439011", "507f"},
      Case{"uri", "https://example.com/a?b", "example com"},
      Case{"email", "a.b@example.com", "a@b@c"},
      Case{"hostname", "my-host.example", "-bad"},
      Case{"ipv4", "10.0.0.1", "10.0.0.256"},
      Case{"ipv6", "fe80::1", "10.0.0.1"},
      Case{"cidr", "10.0.0.0/8", "10.0.0.0/33"},
      Case{"mac", "01:23:45:67:89:ab", "01:23:45:67:89"},
      Case{"uuid", "a8098c1a-f86e-11da-bd1a-00112444be1e", "a8098c1a"},
      Case{"uuid3", "6fa459ea-ee8a-3ca4-894e-db77e160355e", "16fd2706-8baf-433b-82eb-8c7fada847da"},
      Case{"uuid4", "16fd2706-8baf-433b-82eb-8c7fada847da", "6fa459ea-ee8a-3ca4-894e-db77e160355e"},
      Case{"uuid5", "886313e1-3b8a-5372-9b90-0c9aee199e5d", "16fd2706-8baf-433b-82eb-8c7fada847da"},
      Case{"isbn", "978-0-306-40615-7", "978-0-306-40615-8"},
      Case{"isbn10", "0-306-40615-2", "0-306-40615-3"},
      Case{"isbn13", "9780306406157", "9780306406158"},
      Case{"creditcard", "4111 1111 1111 1111", "4111111111111112"},
      Case{"ssn", "123-45-6789", "123-45"},
      Case{"hexcolor", "#fff", "#ff"},
      Case{"rgbcolor", "rgb(1, 2, 255)", "rgb(1,2,256)"},
      Case{"byte", "aGVsbG8=", "a"},
      Case{"date", "2026-02-28", "2026-02-30"},
      Case{"duration", "3 days", "soon"},
      Case{"date-time", "2026-02-28T10:00:00Z", "2026-02-28"},
      Case{"k8s-short-name", "my-name", "My"},
      Case{"k8s-long-name", "a.b", "a..b"},
  };
  for (const Case& one : kCases) {
    EXPECT_TRUE(is_known_format(one.format)) << one.format;
    EXPECT_TRUE(has_format(one.format, one.good)) << one.format;
    EXPECT_FALSE(has_format(one.format, one.bad)) << one.format;
  }
  EXPECT_FALSE(is_known_format("phone"));
}

const ResourceType& builtin(std::string_view kind) {
  static const std::vector<ResourceType> all = builtin_types();
  return *std::ranges::find_if(all, [&](const ResourceType& type) { return type.kind.kind == kind; });
}

TEST(BuiltinTypes, fill_the_defaults_of_a_pod) {
  const json::Value pod =
      builtin("Pod").schema->fill_defaults(yaml("{spec: {restartPolicy: '', containers: [{name: a, ports: [{containerPort: "
                                                "80}], livenessProbe: {httpGet: {port: 80}}}]}}"));
  const json::Value& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"].as_string(), "Always");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"].as_int(), 30);
  EXPECT_EQ(spec["dnsPolicy"].as_string(), "ClusterFirst");
  EXPECT_EQ(
      json::print(spec["containers"].item(0)),
      R"({"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}],)"
      R"("livenessProbe":{"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"periodSeconds":10,"timeoutSeconds":1,"failureThreshold":3,"successThreshold":1},)"
      R"("resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"})");
}

TEST(BuiltinTypes, refuse_a_pod_that_is_wrong) {
  EXPECT_EQ(
      lines(builtin("Pod").schema->validate(yaml("{spec: {restartPolicy: Sometimes, containers: [{image: x, resources: "
                                                 "{limits: {cpu: 1, memory: 1Gb}}, env: [{name: A}, {name: A}]}]}}"))),
      (Lines{"spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\", \"OnFailure\"",
             "spec.containers[0].name: Required value",
             "spec.containers[0].resources.limits.memory: Invalid value: \"1Gb\": quantities must match the regular expression "
             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"}));
}

TEST(BuiltinTypes, know_the_fields_of_a_job_template) {
  std::vector<std::string> dropped;
  builtin("Job").schema->prune(
      yaml("{spec: {podReplacementPolicy: Failed, template: {spec: {containers: [{name: a, imagee: x}]}}}}"), &dropped);
  EXPECT_EQ(dropped, (Lines{"spec.template.spec.containers[0].imagee"}));
}

TEST(BuiltinTypes, take_any_schema_inside_a_crd) {
  const json::Value crd = yaml(
      "{metadata: {name: a.b}, spec: {group: b, scope: Namespaced, names: {plural: a, kind: A}, versions: [{name: v1, served: "
      "true, storage: true,"
      " schema: {openAPIV3Schema: {type: object, properties: {x: {type: array, items: {type: string, default: null}}}}}}]}}");
  std::vector<std::string> dropped;
  EXPECT_TRUE(builtin("CustomResourceDefinition").schema->prune(crd, &dropped).is_same(crd));
  EXPECT_EQ(lines(builtin("CustomResourceDefinition").schema->validate(crd)), Lines{});
}

TEST(BuiltinTypes, merge_lists_by_the_keys_upstream_has) {
  const SchemaNode* container = builtin_node("core.v1.Container");
  ASSERT_NE(container, nullptr);
  EXPECT_EQ(container->property("env")->list_map_keys, (std::vector<std::string>{"name"}));
  EXPECT_EQ(container->property("ports")->list_map_keys, (std::vector<std::string>{"containerPort", "protocol"}));
  EXPECT_EQ(container->property("command")->list_type, SchemaNode::ListType::Atomic);
  EXPECT_EQ(object_meta_node().property("finalizers")->list_type, SchemaNode::ListType::Set);
  EXPECT_EQ(object_meta_node().property("ownerReferences")->list_map_keys, (std::vector<std::string>{"uid"}));
  EXPECT_EQ(builtin_node("meta.v1.LabelSelector")->map_type, SchemaNode::MapType::Atomic);
}

TEST(BuiltinTypes, are_named_as_on_the_wire) {
  const ResourceType& crd = builtin("CustomResourceDefinition");
  EXPECT_EQ(crd.resource.group_resource(), "customresourcedefinitions.apiextensions.k8s.io");
  EXPECT_EQ(crd.singular, "customresourcedefinition");
  EXPECT_FALSE(crd.is_namespaced);
  EXPECT_EQ(builtin("PersistentVolumeClaim").short_names, (std::vector<std::string>{"pvc"}));
}

}  // namespace
}  // namespace slipway::kube

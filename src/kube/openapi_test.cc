#include "kube/openapi.h"
#include "json/text_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "json/text.h"
#include "kube/builtin.h"
#include "kube/protobuf_wire.h"

namespace slipway::kube {
namespace {

using json::Value;

OpenApiInput built_ins() {
  OpenApiInput input;
  for (const ResourceType& type : builtin_types()) {
    input.types.push_back({.type = std::make_shared<const ResourceType>(type), .schema = {}});
  }
  return input;
}

OpenApiInput with_crontabs(OpenApiInput input) {
  ResourceType type;
  type.resource = {"stable.example.com", "v1", "crontabs"};
  type.kind = {"stable.example.com", "v1", "CronTab"};
  type.list_kind = "CronTabList";
  type.singular = "crontab";
  type.is_custom = true;
  type.has_status = true;
  const Value schema = parsed(R"({"type":"object","description":"A table of times.","properties":{
      "spec":{"type":"object","required":["cron"],"properties":{
        "cron":{"type":"string","pattern":"^.*$","default":"x"},
        "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
        "maybe":{"type":"object","nullable":true,"properties":{"a":{"type":"string"}}},
        "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}},
        "object":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object"}}},
        "bounds":{"type":"integer","minimum":1,"maximum":5,"example":3,"not":{"enum":[2]}},
        "nothing":{"type":"object","properties":{}},
        "map":{"type":"object","additionalProperties":{"type":"integer"}},
        "list":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}},
      "status":{"type":"object"}}})");
  input.types.push_back({.type = std::make_shared<const ResourceType>(type), .schema = schema});
  return input;
}

const Value& component(const Value& document, std::string_view name) { return document["components"]["schemas"][name]; }

/// Every "$ref" below a value.
void collect_references(const Value& value, std::set<std::string>& out) {
  for (const Value& item : value.items()) collect_references(item, out);
  for (const auto [key, member] : value.members()) {
    if (key == "$ref" && member.is_string()) {
      out.insert(member.str());
    } else {
      collect_references(member, out);
    }
  }
}

std::vector<std::string> dangling(const Value& document) {
  std::set<std::string> references;
  collect_references(document, references);
  EXPECT_FALSE(references.empty());
  std::vector<std::string> out;
  for (const std::string& one : references) {
    const std::string name = one.substr(one.rfind('/') + 1);
    const bool is_v3 = one.starts_with("#/components/schemas/");
    if (!(is_v3 ? component(document, name) : document["definitions"][name]).is_object()) out.push_back(one);
  }
  return out;
}

TEST(OpenApi, a_built_in_kind_is_found_by_its_kind_and_leads_to_its_parts) {
  const Value document = openapi_v3(built_ins(), "apps", "v1");
  const Value& deployment = component(document, "io.k8s.api.apps.v1.Deployment");
  EXPECT_EQ(deployment["x-kubernetes-group-version-kind"], parsed(R"([{"group":"apps","kind":"Deployment","version":"v1"}])"));
  EXPECT_EQ(deployment["properties"]["spec"]["allOf"],
            parsed(R"([{"$ref":"#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"}])"));
  EXPECT_TRUE(component(document, "io.k8s.api.core.v1.Container").is_object());
  EXPECT_FALSE(document["paths"].has("/api/v1/namespaces/{namespace}/pods"));
  EXPECT_EQ(component(document, "io.k8s.api.apps.v1.DeploymentList")["properties"]["items"]["items"],
            parsed(R"({"$ref":"#/components/schemas/io.k8s.api.apps.v1.Deployment"})"));
}

TEST(OpenApi, says_how_lists_merge) {
  const Value document = openapi_v3(built_ins(), "", "v1");
  const Value& containers = component(document, "io.k8s.api.core.v1.PodSpec")["properties"]["containers"];
  EXPECT_EQ(containers["x-kubernetes-patch-merge-key"].as_string(), "name");
  EXPECT_EQ(containers["x-kubernetes-patch-strategy"].as_string(), "merge");
  EXPECT_EQ(containers["x-kubernetes-list-type"].as_string(), "map");
  const Value& resources = component(document, "io.k8s.api.core.v1.ResourceRequirements")["properties"]["limits"];
  EXPECT_EQ(resources["additionalProperties"],
            parsed(R"({"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"})"));
  EXPECT_EQ(component(document, "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry")["properties"]["fieldsV1"],
            parsed(R"({"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"})"));
  EXPECT_EQ(json::print(document).find("x-slipway"), std::string::npos);
}

TEST(OpenApi, patches_tell_what_kubectl_asks_before_it_validates) {
  const OpenApiInput input = with_crontabs(built_ins());
  const Value built_in = openapi_v3(input, "apps", "v1");
  const Value& patch = built_in["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"], parsed(R"({"group":"apps","kind":"Deployment","version":"v1"})"));
  EXPECT_TRUE(patch["requestBody"]["content"].has("application/strategic-merge-patch+json"));
  std::set<std::string> names;
  for (const Value& one : patch["parameters"].items()) names.insert(one["name"].str());
  EXPECT_EQ(names, (std::set<std::string>{"dryRun", "fieldManager", "fieldValidation", "force"}));
  const Value custom = openapi_v3(input, "stable.example.com", "v1");
  const Value& other = custom["paths"]["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]["patch"];
  EXPECT_FALSE(other["requestBody"]["content"].has("application/strategic-merge-patch+json"));
  EXPECT_TRUE(other["requestBody"]["content"].has("application/apply-patch+yaml"));
}

TEST(OpenApi, a_custom_kind_keeps_its_schema_and_gets_what_every_object_has) {
  const Value document = openapi_v3(with_crontabs({}), "stable.example.com", "v1");
  const Value& crontab = component(document, "com.example.stable.v1.CronTab");
  EXPECT_EQ(crontab["description"].as_string(), "A table of times.");
  EXPECT_EQ(crontab["properties"]["metadata"],
            parsed(R"({"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"})"));
  EXPECT_EQ(crontab["properties"]["spec"]["properties"]["cron"], parsed(R"({"type":"string","pattern":"^.*$","default":"x"})"));
  EXPECT_TRUE(crontab["properties"]["spec"]["properties"]["object"]["properties"].has("apiVersion"));
  EXPECT_TRUE(document["paths"].has("/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}/status"));
}

TEST(OpenApi, v2_leaves_out_of_custom_schemas_what_old_clients_misread) {
  const Value document = openapi_v2(with_crontabs({}));
  const Value& spec = document["definitions"]["com.example.stable.v1.CronTab"]["properties"]["spec"]["properties"];
  EXPECT_EQ(spec["cron"], parsed(R"({"type":"string","pattern":"^.*$","default":"x"})"));
  EXPECT_EQ(spec["port"], parsed(R"({"x-kubernetes-int-or-string":true})"));
  EXPECT_EQ(spec["maybe"], parsed("{}"));
  EXPECT_EQ(spec["open"], parsed(R"({"x-kubernetes-preserve-unknown-fields":true})"));
  EXPECT_EQ(spec["bounds"], parsed(R"({"type":"integer","minimum":1,"maximum":5})"));
  EXPECT_EQ(spec["map"], parsed(R"({"type":"object","additionalProperties":{"type":"integer"}})"));
  EXPECT_TRUE(spec["object"]["properties"].has("kind"));
}

TEST(OpenApi, an_object_without_declared_fields_has_no_properties) {
  const Value document = openapi_v3(with_crontabs({}), "stable.example.com", "v1");
  const Value& spec = component(document, "com.example.stable.v1.CronTab")["properties"]["spec"]["properties"];
  EXPECT_EQ(spec["nothing"], parsed(R"({"type":"object"})"));
  EXPECT_EQ(spec["bounds"], parsed(R"({"type":"integer","minimum":1,"maximum":5,"not":{"enum":[2]}})"));
}

TEST(OpenApi, a_custom_kind_that_is_open_at_its_root_is_any_object_where_clients_would_refuse_fields) {
  OpenApiInput input = with_crontabs({});
  input.types.front().schema =
      parsed(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object"}}})");
  const Value kind = parsed(R"([{"group":"stable.example.com","kind":"CronTab","version":"v1"}])");
  const Value any = parsed(R"({"type":"object"})").with("x-kubernetes-group-version-kind", kind);
  EXPECT_EQ(openapi_v2(input)["definitions"]["com.example.stable.v1.CronTab"], any);
  const Value document = openapi_v3(input, "stable.example.com", "v1");
  const Value& open = component(document, "com.example.stable.v1.CronTab");
  EXPECT_TRUE(open["x-kubernetes-preserve-unknown-fields"].as_bool());
  EXPECT_TRUE(open["properties"].has("spec"));
  EXPECT_TRUE(open["properties"].has("metadata"));
  input.types.front().schema = {};
  EXPECT_EQ(component(openapi_v3(input, "stable.example.com", "v1"), "com.example.stable.v1.CronTab"), any);
}

TEST(OpenApi, built_in_kinds_tell_required_fields_formats_and_list_types) {
  const Value document = openapi_v3(built_ins(), "apps", "v1");
  EXPECT_EQ(component(document, "io.k8s.api.apps.v1.DeploymentSpec")["required"], parsed(R"(["selector","template"])"));
  EXPECT_EQ(component(document, "io.k8s.api.apps.v1.DeploymentCondition")["required"], parsed(R"(["status","type"])"));
  EXPECT_EQ(component(document, "io.k8s.api.core.v1.Container")["properties"]["command"]["x-kubernetes-list-type"],
            Value("atomic"));
  const Value core = openapi_v3(built_ins(), "", "v1");
  EXPECT_EQ(component(core, "io.k8s.api.core.v1.Secret")["properties"]["data"]["additionalProperties"]["format"],
            Value("byte"));
  EXPECT_FALSE(component(core, "io.k8s.api.core.v1.EnvVarSource")["properties"].has("fileKeyRef"));
}

TEST(OpenApi, every_reference_leads_somewhere) {
  const OpenApiInput input = with_crontabs(built_ins());
  EXPECT_EQ(dangling(openapi_v2(input)), std::vector<std::string>());
  std::set<std::pair<std::string, std::string>> done;
  for (const OpenApiType& one : input.types) {
    const Resource& resource = one.type->resource;
    if (!done.emplace(resource.group, resource.version).second) continue;
    EXPECT_EQ(dangling(openapi_v3(input, resource.group, resource.version)), std::vector<std::string>());
  }
}

TEST(OpenApi, operations_have_names_of_their_own) {
  const Value document = openapi_v2(with_crontabs(built_ins()));
  std::set<std::string> ids;
  for (const auto [path, item] : document["paths"].members()) {
    for (const auto [method, operation] : item.members()) {
      if (method != "parameters") EXPECT_TRUE(ids.insert(operation["operationId"].str()).second) << path << " " << method;
    }
  }
  EXPECT_TRUE(ids.contains("patchAppsV1NamespacedDeploymentScale"));
  EXPECT_TRUE(ids.contains("listRbacAuthorizationV1ClusterRole"));
}

TEST(OpenApi, endpoints_are_told_too) {
  OpenApiInput input;
  input.endpoints.push_back({.resource = {"authorization.k8s.io", "v1", "selfsubjectaccessreviews"},
                             .kind = {"authorization.k8s.io", "v1", "SelfSubjectAccessReview"},
                             .is_namespaced = false,
                             .methods = {"post"}});
  const Value document = openapi_v3(input, "authorization.k8s.io", "v1");
  const Value& post = document["paths"]["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"]["post"];
  EXPECT_EQ(post["x-kubernetes-group-version-kind"]["kind"].as_string(), "SelfSubjectAccessReview");
  EXPECT_EQ(dangling(document), std::vector<std::string>());
}

TEST(OpenApi, documents_are_made_once_and_again_when_a_type_changes) {
  OpenApiDocuments documents;
  const OpenApiInput before = built_ins();
  const Value index = documents.v3_index(before, "/clusters/dev");
  const auto apps = documents.v3(before, "apps", "v1");
  EXPECT_EQ(apps, documents.v3(before, "apps", "v1"));
  EXPECT_EQ(index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_string(),
            "/clusters/dev/openapi/v3/apis/apps/v1?hash=" + apps->hash);
  const OpenApiInput after = with_crontabs(before);
  EXPECT_EQ(documents.v3(after, "apps", "v1"), apps);
  EXPECT_TRUE(documents.v3_index(after, "")["paths"].has("apis/stable.example.com/v1"));
  EXPECT_FALSE(documents.v3_index(before, "")["paths"].has("apis/stable.example.com/v1"));
  const auto v2 = documents.v2(before);
  EXPECT_NE(documents.v2(after)->hash, v2->hash);
  EXPECT_EQ(OpenApiDocuments().v2(before)->text, v2->text);
}

/// The bytes of the first field with that number; empty when there is none.
std::string_view field_of(std::string_view message, std::uint32_t number) {
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.number == number) return field.bytes;
  }
  return {};
}

TEST(OpenApi, v2_as_gnostic_protobuf) {
  const std::string bytes = openapi_v2_protobuf(parsed(R"({"swagger":"2.0","info":{"title":"t","version":"v"},
    "paths":{"/a":{"patch":{"parameters":[{"in":"query","name":"dryRun","type":"string"}],
      "x-kubernetes-group-version-kind":{"kind":"A"}}}},
    "definitions":{"A":{"type":"object","properties":{"b":{"type":"array","items":{"$ref":"#/definitions/B"}}}}}})"));
  EXPECT_EQ(field_of(bytes, 1), "2.0");
  EXPECT_EQ(field_of(field_of(bytes, 2), 1), "t");
  const std::string_view path = field_of(field_of(bytes, 8), 2);
  EXPECT_EQ(field_of(path, 1), "/a");
  const std::string_view patch = field_of(field_of(path, 2), 8);
  const std::string_view parameter = field_of(patch, 8);
  EXPECT_EQ(field_of(field_of(field_of(field_of(parameter, 1), 2), 3), 4), "dryRun");
  EXPECT_EQ(field_of(field_of(field_of(patch, 13), 2), 2), R"({"kind":"A"})");
  const std::string_view definition = field_of(field_of(bytes, 9), 1);
  EXPECT_EQ(field_of(definition, 1), "A");
  const std::string_view property = field_of(field_of(field_of(field_of(definition, 2), 25), 1), 2);
  const std::string bounded = openapi_v2_protobuf(
      parsed(R"({"definitions":{"A":{"pattern":"^a","minimum":1.5,"maxLength":7,"exclusiveMinimum":true}}})"));
  const std::string_view bounds = field_of(field_of(field_of(bounded, 9), 1), 2);
  EXPECT_EQ(field_of(bounds, 13), "^a");
  EXPECT_EQ(bounds, std::string("\x49\0\0\0\0\0\0\xf8\x3f\x50\x01\x58\x07\x6a\x02^a", 17));
  EXPECT_EQ(field_of(field_of(property, 22), 1), "array");
  EXPECT_EQ(field_of(field_of(field_of(property, 23), 1), 1), "#/definitions/B");
}

}  // namespace
}  // namespace slipway::kube

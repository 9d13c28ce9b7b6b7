#include "kube/openapi_paths.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kube/builtin_rows.h"

namespace slipway::kube {
namespace {

using json::Value;

struct Parameter {
  std::string_view name;
  std::string_view type;
};
constexpr std::array kWriteParameters{Parameter{"dryRun", "string"}, Parameter{"fieldManager", "string"},
                                      Parameter{"fieldValidation", "string"}};
constexpr std::array kPatchParameters{Parameter{"dryRun", "string"}, Parameter{"fieldManager", "string"},
                                      Parameter{"fieldValidation", "string"}, Parameter{"force", "boolean"}};
constexpr std::array kDeleteParameters{Parameter{"dryRun", "string"}, Parameter{"gracePeriodSeconds", "integer"},
                                       Parameter{"orphanDependents", "boolean"}, Parameter{"propagationPolicy", "string"}};
constexpr std::array kListParameters{Parameter{"allowWatchBookmarks", "boolean"},
                                     Parameter{"continue", "string"},
                                     Parameter{"fieldSelector", "string"},
                                     Parameter{"labelSelector", "string"},
                                     Parameter{"limit", "integer"},
                                     Parameter{"resourceVersion", "string"},
                                     Parameter{"resourceVersionMatch", "string"},
                                     Parameter{"sendInitialEvents", "boolean"},
                                     Parameter{"timeoutSeconds", "integer"},
                                     Parameter{"watch", "boolean"}};

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

/// One operation, before it is written in a dialect.
struct Operation {
  std::string method;  // "get"
  std::string action;  // "list": x-kubernetes-action
  std::string id;
  GroupVersionKind kind;
  std::span<const Parameter> parameters{};
  Value body{};    // a reference; null without body
  Value answer{};  // likewise
  bool takes_patches = false;
  bool is_custom = false;
};

std::vector<Value> patch_types(bool is_custom) {
  if (is_custom) return {kApplyPatch, kJsonPatch, kMergePatch};
  return {kApplyPatch, kJsonPatch, kMergePatch, kStrategicMergePatch};
}

std::vector<Value> object_types(bool is_custom) {
  if (is_custom) return {"application/json", "application/yaml"};
  return {"application/json", "application/vnd.kubernetes.protobuf", "application/yaml"};
}

std::string capitalized(std::string_view word) {
  std::string out(word);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

/// "RbacAuthorization" of rbac.authorization.k8s.io.
std::string group_word(std::string_view group) {
  if (group.empty()) return "Core";
  if (group.ends_with(".k8s.io")) group.remove_suffix(7);
  std::string out;
  while (!group.empty()) {
    const std::size_t dot = group.find('.');
    out += capitalized(group.substr(0, dot));
    group.remove_prefix(dot == group.npos ? group.size() : dot + 1);
  }
  std::erase(out, '-');
  return out;
}

class PathWriter {
 public:
  PathWriter(OpenApiDialect dialect, OpenApiSchemas& schemas) : is_v2_(dialect == OpenApiDialect::V2), schemas_(schemas) {}

  void add_type(const OpenApiType& one);
  void add_endpoint(const OpenApiEndpoint& endpoint);
  Value build();

 private:
  struct Item {
    std::map<std::string, Value> operations;
    Value parameters;
  };

  void add_collection(const ResourceType& type, const std::string& path, const Value& object, const Value& list);
  void add_object(const ResourceType& type, const std::string& path, const GroupVersionKind& kind, const std::string& suffix,
                  const Value& object);
  void put(const std::string& path, const Operation& operation);
  Value written(const Operation& operation) const;
  Value written_v2(const Operation& operation, json::ObjectBuilder& out) const;
  Value written_v3(const Operation& operation, json::ObjectBuilder& out) const;
  Value parameter(const Parameter& one) const;
  Value path_parameters(const std::string& path) const;

  bool is_v2_;
  OpenApiSchemas& schemas_;
  std::map<std::string, Item> items_;
};

std::string resource_root(const Resource& resource) {
  return resource.group.empty() ? "/api/" + resource.version : "/apis/" + resource.group + "/" + resource.version;
}

std::string id_words(const Resource& resource, bool is_namespaced) {
  return group_word(resource.group) + capitalized(resource.version) + (is_namespaced ? "Namespaced" : "");
}

void PathWriter::add_type(const OpenApiType& one) {
  const ResourceType& type = *one.type;
  const Value object = type.is_custom ? schemas_.custom(type.kind, one.schema) : schemas_.built_in(type.kind);
  const Value list = schemas_.list_of(type.kind, type.list_kind, object);
  const std::string root = resource_root(type.resource);
  const std::string inside = root + (type.is_namespaced ? "/namespaces/{namespace}/" : "/") + type.resource.plural;
  add_collection(type, inside, object, list);
  if (type.is_namespaced) {
    put(root + "/" + type.resource.plural, {.method = "get",
                                            .action = "list",
                                            .id = "list" + id_words(type.resource, false) + type.kind.kind + "ForAllNamespaces",
                                            .kind = type.kind,
                                            .parameters = kListParameters,
                                            .answer = list,
                                            .is_custom = type.is_custom});
  }
  const std::string item = inside + "/{name}";
  add_object(type, item, type.kind, "", object);
  put(item, {.method = "delete",
             .action = "delete",
             .id = "delete" + id_words(type.resource, type.is_namespaced) + type.kind.kind,
             .kind = type.kind,
             .parameters = kDeleteParameters,
             .body = schemas_.reference("meta.v1.DeleteOptions"),
             .answer = is_shown_when_deleted(type.kind.group, type.kind.kind) ? object : schemas_.reference("meta.v1.Status"),
             .is_custom = type.is_custom});
  if (type.has_status) add_object(type, item + "/status", type.kind, "Status", object);
  if (type.scale) {
    const GroupVersionKind scale{"autoscaling", "v1", "Scale"};
    add_object(type, item + "/scale", scale, "Scale", schemas_.built_in(scale));
  }
}

void PathWriter::add_collection(const ResourceType& type, const std::string& path, const Value& object, const Value& list) {
  const std::string words = id_words(type.resource, type.is_namespaced);
  put(path, {.method = "get",
             .action = "list",
             .id = "list" + words + type.kind.kind,
             .kind = type.kind,
             .parameters = kListParameters,
             .answer = list,
             .is_custom = type.is_custom});
  put(path, {.method = "post",
             .action = "post",
             .id = "create" + words + type.kind.kind,
             .kind = type.kind,
             .parameters = kWriteParameters,
             .body = object,
             .answer = object,
             .is_custom = type.is_custom});
  const std::string collection = id_words(type.resource, false) + "Collection" + (type.is_namespaced ? "Namespaced" : "");
  put(path, {.method = "delete",
             .action = "deletecollection",
             .id = "delete" + collection + type.kind.kind,
             .kind = type.kind,
             .parameters = kListParameters,
             .body = schemas_.reference("meta.v1.DeleteOptions"),
             .answer = schemas_.reference("meta.v1.Status"),
             .is_custom = type.is_custom});
}

void PathWriter::add_object(const ResourceType& type, const std::string& path, const GroupVersionKind& kind,
                            const std::string& suffix, const Value& object) {
  const std::string words = id_words(type.resource, type.is_namespaced) + type.kind.kind + suffix;
  put(path,
      {.method = "get", .action = "get", .id = "read" + words, .kind = kind, .answer = object, .is_custom = type.is_custom});
  put(path, {.method = "put",
             .action = "put",
             .id = "replace" + words,
             .kind = kind,
             .parameters = kWriteParameters,
             .body = object,
             .answer = object,
             .is_custom = type.is_custom});
  put(path, {.method = "patch",
             .action = "patch",
             .id = "patch" + words,
             .kind = kind,
             .parameters = kPatchParameters,
             .body = schemas_.reference("meta.v1.Patch"),
             .answer = object,
             .takes_patches = true,
             .is_custom = type.is_custom});
}

void PathWriter::add_endpoint(const OpenApiEndpoint& endpoint) {
  const Resource& resource = endpoint.resource;
  std::string path = resource_root(resource) + (endpoint.is_namespaced ? "/namespaces/{namespace}/" : "/") + resource.plural;
  if (!endpoint.subresource.empty()) path += "/{name}/" + endpoint.subresource;
  const Value object = schemas_.built_in(endpoint.kind);
  const std::string words = id_words(resource, endpoint.is_namespaced) + endpoint.kind.kind + capitalized(endpoint.subresource);
  for (const std::string& method : endpoint.methods) {
    const bool writes = method == "post" || method == "put";
    const bool is_patch = method == "patch";
    const std::string verb = method == "post" ? "create" : method == "put" ? "replace" : method == "get" ? "read" : method;
    put(path, {.method = method,
               .action = method,
               .id = verb + words,
               .kind = endpoint.kind,
               .parameters = is_patch ? std::span<const Parameter>(kPatchParameters)
                             : writes ? std::span<const Parameter>(kWriteParameters)
                                      : std::span<const Parameter>(),
               .body = is_patch ? schemas_.reference("meta.v1.Patch")
                       : writes ? object
                                : Value(),
               .answer = object,
               .takes_patches = is_patch});
  }
}

void PathWriter::put(const std::string& path, const Operation& operation) {
  Item& item = items_[path];
  item.operations.try_emplace(operation.method, written(operation));
  item.parameters = path_parameters(path);
}

Value PathWriter::build() {
  json::ObjectBuilder out(items_.size());
  for (const auto& [path, item] : items_) {
    json::ObjectBuilder members;
    for (const auto& [method, operation] : item.operations) members.add(method, operation);
    out.add(path, members.add("parameters", item.parameters).build());
  }
  return out.build();
}

Value PathWriter::parameter(const Parameter& one) const {
  json::ObjectBuilder out;
  out.add("in", "query").add("name", one.name);
  if (is_v2_) return out.add("type", one.type).add("uniqueItems", true).build();
  return out.add("schema", json::object({{"type", one.type}, {"uniqueItems", true}})).build();
}

Value PathWriter::path_parameters(const std::string& path) const {
  json::ArrayBuilder out;
  for (const std::string_view name : {"name", "namespace"}) {
    if (path.find("{" + std::string(name) + "}") == path.npos) continue;
    json::ObjectBuilder one;
    one.add("in", "path").add("name", name).add("required", true);
    if (is_v2_) {
      one.add("type", "string").add("uniqueItems", true);
    } else {
      one.add("schema", json::object({{"type", "string"}, {"uniqueItems", true}}));
    }
    out.add(one.build());
  }
  return out.add(parameter({"pretty", "string"})).build();
}

Value PathWriter::written(const Operation& operation) const {
  json::ObjectBuilder out;
  out.add("operationId", operation.id);
  const Value made = is_v2_ ? written_v2(operation, out) : written_v3(operation, out);
  return made.with("x-kubernetes-action", operation.action)
      .with("x-kubernetes-group-version-kind", openapi_kind(operation.kind));
}

Value PathWriter::written_v2(const Operation& operation, json::ObjectBuilder& out) const {
  const auto consumed = operation.takes_patches ? patch_types(operation.is_custom) : std::vector<Value>{"*/*"};
  out.add("consumes", json::array(std::span<const Value>(consumed)));
  out.add("produces", json::array(std::span<const Value>(object_types(operation.is_custom))));
  json::ArrayBuilder parameters;
  if (!operation.body.is_null()) {
    parameters.add(json::object(
        {{"in", "body"}, {"name", "body"}, {"required", operation.action != "delete"}, {"schema", operation.body}}));
  }
  for (const Parameter& one : operation.parameters) parameters.add(parameter(one));
  out.add("parameters", parameters.build());
  out.add("responses", json::object({{"200", json::object({{"description", "OK"}, {"schema", operation.answer}})}}));
  return out.build();
}

Value PathWriter::written_v3(const Operation& operation, json::ObjectBuilder& out) const {
  const auto content = [](const std::vector<Value>& types, const Value& schema) {
    json::ObjectBuilder all;
    for (const Value& type : types) all.add(type.as_string(), json::object({{"schema", schema}}));
    return all.build();
  };
  json::ArrayBuilder parameters;
  for (const Parameter& one : operation.parameters) parameters.add(parameter(one));
  if (!parameters.empty()) out.add("parameters", parameters.build());
  if (!operation.body.is_null()) {
    const auto types = operation.takes_patches ? patch_types(operation.is_custom) : std::vector<Value>{"*/*"};
    json::ObjectBuilder body;
    body.add("content", content(types, operation.body));
    if (!operation.action.starts_with("delete")) body.add("required", true);
    out.add("requestBody", body.build());
  }
  const Value answer = content(object_types(operation.is_custom), operation.answer);
  out.add("responses", json::object({{"200", json::object({{"description", "OK"}, {"content", answer}})}}));
  return out.build();
}

}  // namespace

Value openapi_paths(std::span<const OpenApiType> types, std::span<const OpenApiEndpoint> endpoints, OpenApiDialect dialect,
                    OpenApiSchemas& schemas) {
  PathWriter writer(dialect, schemas);
  for (const OpenApiType& one : types) writer.add_type(one);
  for (const OpenApiEndpoint& one : endpoints) writer.add_endpoint(one);
  return writer.build();
}

}  // namespace slipway::kube

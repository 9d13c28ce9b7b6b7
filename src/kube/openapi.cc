#include "kube/openapi.h"

#include "base/digest.h"
#include "json/text.h"
#include "kube/builtin.h"
#include "kube/openapi_paths.h"
#include "kube/openapi_schema.h"

namespace slipway::kube {
namespace {

using json::Value;
using TypePtrs = std::vector<std::shared_ptr<const ResourceType>>;

Value info() { return json::object({{"title", "Kubernetes"}, {"version", "v1.33.0"}}); }

bool is_in(const Resource& resource, std::string_view group, std::string_view version) {
  return resource.group == group && resource.version == version;
}

/// The part of the input that one group-version is made of.
OpenApiInput part_of(const OpenApiInput& input, std::string_view group, std::string_view version) {
  OpenApiInput out;
  for (const OpenApiType& one : input.types) {
    if (is_in(one.type->resource, group, version)) out.types.push_back(one);
  }
  for (const OpenApiEndpoint& one : input.endpoints) {
    if (is_in(one.resource, group, version)) out.endpoints.push_back(one);
  }
  return out;
}

TypePtrs pointers(const OpenApiInput& input) {
  TypePtrs out;
  for (const OpenApiType& one : input.types) out.push_back(one.type);
  return out;
}

OpenApiDocuments::DocumentPtr finished(std::string text) {
  auto document = std::make_shared<OpenApiDocuments::Document>();
  document->hash = sha512_hex(text);
  document->text = std::move(text);
  return document;
}

/// The document of one group-version's part of the input.
Value v3_of(const OpenApiInput& part, Value tables) {
  OpenApiSchemas schemas(OpenApiDialect::V3, std::move(tables));
  const Value paths = openapi_paths(part.types, part.endpoints, OpenApiDialect::V3, schemas);
  return json::object(
      {{"openapi", "3.0.0"}, {"info", info()}, {"paths", paths}, {"components", json::object({{"schemas", schemas.build()}})}});
}

std::string path_of(const Resource& resource) {
  return resource.group.empty() ? "api/" + resource.version : "apis/" + resource.group + "/" + resource.version;
}

}  // namespace

Value openapi_v3(const OpenApiInput& input, std::string_view group, std::string_view version) {
  return v3_of(part_of(input, group, version), builtin_tables());
}

Value openapi_v2(const OpenApiInput& input) {
  OpenApiSchemas schemas(OpenApiDialect::V2, builtin_tables());
  const Value paths = openapi_paths(input.types, input.endpoints, OpenApiDialect::V2, schemas);
  return json::object({{"swagger", "2.0"}, {"info", info()}, {"paths", paths}, {"definitions", schemas.build()}});
}

/// The entry of that name; without its document when that was made of other types.
OpenApiDocuments::Entry* OpenApiDocuments::fresh(const std::string& name, TypePtrs types) {
  Entry& entry = entries_[name];
  if (entry.types != types) entry = {.types = std::move(types), .document = nullptr};
  return &entry;
}

OpenApiDocuments::DocumentPtr OpenApiDocuments::v3(const OpenApiInput& input, std::string_view group,
                                                   std::string_view version) {
  Value tables;
  return v3(part_of(input, group, version), group, version, tables);
}

OpenApiDocuments::DocumentPtr OpenApiDocuments::v3(const OpenApiInput& part, std::string_view group, std::string_view version,
                                                   Value& tables) {
  Entry* entry = fresh("v3 " + std::string(group) + "/" + std::string(version), pointers(part));
  if (entry->document == nullptr) {
    if (tables.is_null()) tables = builtin_tables();
    entry->document = finished(json::print(v3_of(part, tables)));
  }
  return entry->document;
}

OpenApiDocuments::DocumentPtr OpenApiDocuments::v2(const OpenApiInput& input) {
  Entry* entry = fresh("v2", pointers(input));
  if (entry->document == nullptr) entry->document = finished(json::print(openapi_v2(input)));
  return entry->document;
}

OpenApiDocuments::DocumentPtr OpenApiDocuments::v2_protobuf(const OpenApiInput& input) {
  Entry* entry = fresh("v2 protobuf", pointers(input));
  if (entry->document == nullptr) entry->document = finished(openapi_v2_protobuf(openapi_v2(input)));
  return entry->document;
}

Value OpenApiDocuments::v3_index(const OpenApiInput& input, std::string_view root) {
  struct Group {
    Resource resource;
    OpenApiInput part{};
  };
  std::map<std::string, Group> groups;
  for (const OpenApiType& one : input.types) {
    const Resource& resource = one.type->resource;
    groups.try_emplace(path_of(resource), resource).first->second.part.types.push_back(one);
  }
  for (const OpenApiEndpoint& one : input.endpoints) {
    groups.try_emplace(path_of(one.resource), one.resource).first->second.part.endpoints.push_back(one);
  }
  json::ObjectBuilder paths;
  Value tables;
  for (const auto& [path, group] : groups) {
    const DocumentPtr document = v3(group.part, group.resource.group, group.resource.version, tables);
    const std::string url = std::string(root) + "/openapi/v3/" + path + "?hash=" + document->hash;
    paths.add(path, json::object({{"serverRelativeURL", url}}));
  }
  // Documents of definitions that are gone go too.
  std::erase_if(entries_, [&](const auto& entry) {
    const std::string_view name = entry.first;
    if (!name.starts_with("v3 ")) return false;
    const std::string api(name.substr(3));  // "apps/v1", "/v1"
    return !groups.contains(api.starts_with('/') ? "api" + api : "apis/" + api);
  });
  return json::object({{"paths", paths.build()}});
}

}  // namespace slipway::kube

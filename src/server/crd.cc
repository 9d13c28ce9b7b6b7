#include "server/crd.h"

#include <algorithm>

#include "server/context.h"
#include "server/schema_cache.h"

namespace slipway::server {

namespace {

using json::Value;

constexpr std::string_view kDefinitionsPrefix = "/registry/apiextensions.k8s.io/customresourcedefinitions/";

std::vector<std::string> strings(const Value& list) {
  std::vector<std::string> result;
  for (const Value& item : list.items()) result.push_back(item.str());
  return result;
}

std::string without_dot(const Value& path) {
  return std::string(path.as_string().substr(path.as_string().starts_with('.') ? 1 : 0));
}

std::vector<kube::Column> columns_of(const Value& version) {
  std::vector<kube::Column> columns;
  for (const Value& column : version["additionalPrinterColumns"].items()) {
    columns.push_back({.name = column["name"].str(),
                       .type = column["type"].str(),
                       .format = column["format"].str(),
                       .description = column["description"].str(),
                       .priority = static_cast<int>(column["priority"].as_int()),
                       .json_path = column["jsonPath"].str()});
  }
  return columns;
}

kube::ResourceType type_of(const Value& crd, const Value& version) {
  const Value& spec = crd["spec"];
  const Value& names = crd["status"]["acceptedNames"];
  const std::string group = spec["group"].str();
  kube::ResourceType type;
  type.resource = {group, version["name"].str(), names["plural"].str()};
  type.kind = {group, version["name"].str(), names["kind"].str()};
  type.list_kind = names["listKind"].str();
  type.singular = names["singular"].str();
  type.short_names = strings(names["shortNames"]);
  type.categories = strings(names["categories"]);
  type.is_namespaced = spec["scope"].as_string() == "Namespaced";
  type.has_status = version["subresources"].has("status");
  if (const Value& scale = version["subresources"]["scale"]; scale.is_object()) {
    type.scale =
        kube::ScalePaths{scale["specReplicasPath"].str(), scale["statusReplicasPath"].str(), scale["labelSelectorPath"].str()};
  }
  type.allows_blind_update = false;
  type.is_custom = true;
  type.columns = columns_of(version);
  for (const Value& selectable : version["selectableFields"].items()) {
    type.selectable_fields.push_back(without_dot(selectable["jsonPath"]));
  }
  return type;
}

std::string deprecation_of(const kube::ResourceType& type, const Value& version) {
  if (!version["deprecated"].as_bool()) return "";
  const Value& own = version["deprecationWarning"];
  return own.is_null() ? type.kind.api_version() + " " + type.kind.kind + " is deprecated" : own.str();
}

std::string storage_version(const Value& spec) {
  for (const Value& version : spec["versions"].items()) {
    if (version["storage"].as_bool()) return spec["group"].str() + "/" + version["name"].str();
  }
  return "";
}

/// Besides the versions that say so, the storage version of a definition that is going and serves none: its objects can only be
/// deleted where they are served.
bool is_to_serve(const Value& crd, const Value& version) {
  if (version["served"].as_bool()) return true;
  if (!kube::is_deleting(crd) || !version["storage"].as_bool()) return false;
  return std::ranges::none_of(crd["spec"]["versions"].items(), [](const Value& one) { return one["served"].as_bool(); });
}

/// "plural.group" → both.
std::pair<std::string_view, std::string_view> split_name(std::string_view name) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

bool is_crd(const kube::GroupVersionKind& kind) {
  return kind.kind == "CustomResourceDefinition" && kind.group == "apiextensions.k8s.io";
}

std::vector<Served> served_versions(const kube::Object& crd, kube::Revision modified, const std::vector<ServedPtr>& known) {
  std::vector<Served> result;
  if (!kube::is_true(crd, "Established")) return result;
  for (const Value& version : crd["spec"]["versions"].items()) {
    if (!is_to_serve(crd, version)) continue;
    Served served;
    served.type = type_of(crd, version);
    served.source = version;
    served.deprecation = deprecation_of(served.type, version);
    served.stored_api_version = storage_version(crd["spec"]);
    served.is_terminating = kube::is_deleting(crd);
    const auto old = std::ranges::find_if(
        known, [&](const ServedPtr& one) { return one->type.resource == served.type.resource && one->source == version; });
    if (old != known.end()) {
      served.type.schema = (*old)->type.schema;
      served.rules = (*old)->rules;
      served.schema_since = (*old)->schema_since;
    } else {
      const CompiledSchemaPtr compiled = SchemaCache::shared().judged(version["schema"]["openAPIV3Schema"]);
      served.type.schema = compiled->schema;
      served.rules = compiled->rules;
      served.schema_since = modified;
    }
    result.push_back(std::move(served));
  }
  return result;
}

bool is_named_as_builtin(const Registry& registry, std::string_view group, std::string_view plural) {
  const auto versions = registry.versions(group, plural);
  return std::ranges::any_of(versions, [](const ServedPtr& served) { return !served->type.is_custom; });
}

DefinitionProjection::DefinitionProjection(store::Store& store, Registry& registry)
    : registry_(registry), following_(store.follow(std::string(kDefinitionsPrefix), *this, store::Sight::Durable)) {}

void DefinitionProjection::apply(const store::Change& change) {
  const auto [plural, group] = split_name(std::string_view(change.key).substr(kDefinitionsPrefix.size()));
  if (is_named_as_builtin(registry_, group, plural)) return;
  const auto known = registry_.versions(group, plural);
  if (std::ranges::any_of(known, [](const ServedPtr& one) { return one->answers != nullptr; })) return;
  std::vector<Served> now;
  if (change.value) now = served_versions(*change.value, change.revision, known);
  registry_.remove_all(group, plural);
  for (Served& served : now) registry_.put(std::move(served));
}

std::vector<std::string> waiting_crds(const ServerContext& context, std::string_view name) {
  std::vector<std::string> waiting;
  const auto range = context.store.range({.prefix = std::string(kDefinitionsPrefix), .start = {}});
  if (!range) return waiting;
  for (const auto& [key, entry] : range->entries) {
    const std::string_view other = kube::name(entry.value);
    const bool is_waiting = !kube::is_true(entry.value, "NamesAccepted") && !kube::is_deleting(entry.value);
    const bool is_near = name.empty() || split_name(other).second == split_name(name).second;
    if (is_waiting && is_near && other != name) waiting.emplace_back(other);
  }
  return waiting;
}

std::vector<std::string> wrongly_accepted_crds(const ServerContext& context) {
  std::vector<std::string> found;
  const auto range = context.store.range({.prefix = std::string(kDefinitionsPrefix), .start = {}});
  if (!range) return found;
  for (const auto& [key, entry] : range->entries) {
    const auto [plural, group] = split_name(std::string_view(key).substr(kDefinitionsPrefix.size()));
    if (!is_named_as_builtin(context.registry, group, plural)) continue;
    if (kube::is_true(entry.value, "NamesAccepted") || kube::is_true(entry.value, "Established")) {
      found.emplace_back(kube::name(entry.value));
    }
  }
  return found;
}

}  // namespace slipway::server

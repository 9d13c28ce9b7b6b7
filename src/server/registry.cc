#include "server/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/resource_word.h"
#include "kube/schema.h"
#include "server/builtin/conversion.h"
#include "server/builtin/strategy.h"
#include "server/endpoint.h"

namespace slipway::server {

TypePtr type_of(const ServedPtr& served) { return {served, &served->type}; }

bool Part::takes(client::Verb verb) const { return std::ranges::find(verbs, verb) != verbs.end(); }

std::optional<Part> Served::part(std::string_view subresource) const {
  using enum client::Verb;
  static constexpr std::array kOfObjects{Get, List, Watch, Create, Update, Patch, Delete, DeleteCollection};
  static constexpr std::array kOfParts{Get, Update, Patch};
  if (answers != nullptr) {
    const auto answered = answered_parts.find(subresource);
    if (answered == answered_parts.end()) return std::nullopt;
    return Part{subresource.empty() ? Part::Content::Whole : Part::Content::Answered, answered->second};
  }
  if (subresource.empty()) return Part{Part::Content::Whole, kOfObjects};
  if (subresource == "status" && type.has_status) return Part{Part::Content::Status, kOfParts};
  if (subresource == "scale" && type.scale.has_value()) return Part{Part::Content::Scale, kOfParts};
  if (subresource != strategy->subresource) return std::nullopt;
  const Endpoint* row = find_stored_part(type.resource, subresource);
  if (row == nullptr) return std::nullopt;
  return Part{Part::Content::OfKind, row->verbs};
}

std::string Served::key(std::string_view ns, std::string_view name) const {
  std::string key;
  key.reserve(prefix.size() + ns.size() + name.size() + 1);
  key += prefix;
  if (type.is_namespaced) {
    key += ns;
    key += '/';
  }
  key += name;
  return key;
}

kube::Object Served::shown(const kube::Object& stored, kube::Revision modified) const {
  if (conversion != nullptr) return conversion->from_stored(stored);
  kube::Object object = stored["apiVersion"].as_string() == api_version ? stored : stored.with("apiVersion", api_version);
  if (is_older(modified)) object = type.schema->fill_defaults(type.schema->prune(object));
  return object;
}

std::span<const Endpoint> Registry::endpoints() const {
  return only_ == Only::Everything ? server::endpoints() : std::span<const Endpoint>();
}

const Endpoint* Registry::find_endpoint(const kube::Resource& resource, std::string_view subresource) const {
  return only_ == Only::Everything ? server::find_endpoint(resource, subresource) : nullptr;
}

Result<ServedPtr> Registry::served(const kube::Resource& resource) const {
  const auto found = types_.find(resource);
  if (found == types_.end()) {
    return not_served(resource.group, resource.version, "the server could not find the requested resource");
  }
  return found->second;
}

std::unexpected<Status> Registry::not_served(std::string_view group, std::string_view version, std::string not_found) const {
  const auto refused =
      std::ranges::find_if(refused_, [&](const auto& one) { return one.group == group && one.version == version; });
  if (refused == refused_.end()) return fail(Reason::NotFound, std::move(not_found));
  return fail(Reason::NotImplemented, refused->message);
}

std::vector<ServedPtr> Registry::versions(std::string_view group, std::string_view plural) const {
  std::vector<ServedPtr> result;
  for (const auto& [resource, served] : types_) {
    if (resource.group == group && resource.plural == plural) result.push_back(served);
  }
  return result;
}

Result<TypePtr> Registry::find(const kube::Resource& resource) const {
  SLIPWAY_TRY(found, served(resource));
  return type_of(found);
}

Result<TypePtr> Registry::find_kind(const kube::GroupVersionKind& kind) const {
  for (const auto& [resource, served] : types_) {
    if (served->type.kind == kind) return type_of(served);
  }
  return not_served(kind.group, kind.version,
                    fmt::format("no matches for kind \"{}\" in version \"{}\"", kind.kind, kind.api_version()));
}

Result<TypePtr> Registry::find_word(std::string_view word) const { return kube::find_by_word(all(), word); }

void Registry::put(kube::ResourceType type) {
  Served served;
  served.type = std::move(type);
  put(std::move(served));
}

void Registry::put(client::AnsweredKind kind) {
  Served served;
  served.type = kind.type;
  served.type.is_custom = true;  // shown, described and named by people as a custom resource is
  served.source = json::object({{"schema", json::object({{"openAPIV3Schema", kind.schema}})}});
  served.answered_parts[""];
  for (const client::AnsweredVerb& row : kind.verbs) served.answered_parts[row.subresource].push_back(row.verb);
  if (kind.watch) served.answered_parts[""].push_back(client::Verb::Watch);
  served.answers = std::make_shared<const client::AnsweredKind>(std::move(kind));
  put(std::move(served));
}

void Registry::put(Served served) {
  const kube::Resource resource = served.type.resource;
  if (!served.type.is_custom) served.conversion = find_conversion(resource);
  const kube::Resource& stored = served.conversion == nullptr ? resource : served.conversion->stored;
  served.prefix = fmt::format("/registry/{}/{}/", stored.group.empty() ? "core" : stored.group, stored.plural);
  served.api_version = served.type.kind.api_version();
  if (served.stored_api_version.empty()) served.stored_api_version = served.api_version;
  served.strategy = &strategy_of(served.type.kind);
  types_.insert_or_assign(resource, std::make_shared<const Served>(std::move(served)));
}

void Registry::remove(const kube::Resource& resource) { types_.erase(resource); }

void Registry::remove_all(std::string_view group, std::string_view plural) {
  std::erase_if(types_, [&](const auto& entry) { return entry.first.group == group && entry.first.plural == plural; });
}

std::vector<TypePtr> Registry::all() const {
  std::vector<TypePtr> result;
  result.reserve(types_.size());
  for (const auto& [resource, served] : types_) result.push_back(type_of(served));
  return result;
}

}  // namespace slipway::server

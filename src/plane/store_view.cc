#include "plane/store_view.h"

#include "server/registry.h"

namespace slipway::plane {
namespace {

Result<server::ServedPtr> served(const server::Server& server, const kube::GroupVersionKind& kind) {
  SLIPWAY_TRY(type, server.registry().find_kind(kind));
  return server.registry().served(type->resource);
}

}  // namespace

json::Value StoreView::find(const json::Value& reference) const {
  const auto kind = kube::GroupVersionKind::of(reference);
  if (!kind) return {};
  const auto found = served(server_, *kind);
  if (!found) return {};
  const std::string_view name = reference.has("name") ? reference["name"].as_string() : kube::name(reference);
  const std::string_view ns = reference.has("namespace") ? reference["namespace"].as_string() : kube::ns(reference);
  const auto entry = store_.get((*found)->key((*found)->type.is_namespaced ? ns : "", name));
  return entry ? (*found)->shown(entry->value, entry->modified) : json::Value{};
}

std::vector<json::Value> StoreView::owned_by(const json::Value& owner, const kube::GroupVersionKind& kind) const {
  std::vector<json::Value> owned = all(kind, std::string(kube::ns(owner)));
  std::erase_if(owned,
                [&](const json::Value& object) { return kube::controller_of(object)["uid"] != owner["metadata"]["uid"]; });
  return owned;
}

std::vector<json::Value> StoreView::all(const kube::GroupVersionKind& kind, const std::string& ns) const {
  std::vector<json::Value> objects;
  const auto found = served(server_, kind);
  if (!found) return objects;
  store::RangeQuery query;
  query.prefix = (*found)->prefix + (ns.empty() ? "" : ns + "/");
  const auto range = store_.range(query);
  if (!range) return objects;
  for (const auto& [key, entry] : range->entries) objects.push_back((*found)->shown(entry.value, entry.modified));
  return objects;
}

}  // namespace slipway::plane

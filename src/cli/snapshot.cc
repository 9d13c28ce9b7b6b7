#include "cli/snapshot.h"

#include <algorithm>

#include "plane/families.h"

namespace slipway::cli {

namespace {

using json::Value;

std::string key_of(const kube::GroupVersionKind& kind) { return kind.group + "/" + kind.kind; }

kube::ResourceTypePtr type_of(const kube::GroupVersionKind& kind, const Value& entry) {
  auto type = std::make_shared<kube::ResourceType>();
  type->kind = kind;
  type->resource = {kind.group, kind.version, entry["name"].str()};
  type->singular = entry["singularName"].str();
  for (const Value& name : entry["shortNames"].items()) type->short_names.push_back(name.str());
  type->is_namespaced = entry["namespaced"].as_bool();
  const auto own = plane::own_types();
  type->is_custom = std::ranges::any_of(own, [&](const kube::ResourceType& one) { return one.resource.group == kind.group; });
  return type;
}

/// The followed kinds by the path of discovery that tells of them.
std::map<std::string, std::vector<kube::GroupVersionKind>> kinds_by_path() {
  std::map<std::string, std::vector<kube::GroupVersionKind>> paths;
  for (const kube::GroupVersionKind& kind : plane::followed_kinds()) {
    paths[(kind.group.empty() ? "/api/" : "/apis/") + kind.api_version()].push_back(kind);
  }
  return paths;
}

}  // namespace

Task<Result<Snapshot>> Snapshot::read(remote::RemoteClient& client, std::string ns, Time now) {
  Snapshot snapshot;
  snapshot.now_ = now;
  for (const auto& [path, kinds] : kinds_by_path()) {
    const auto list = co_await client.get_path(path);
    if (!list && list.error().reason == Reason::NotFound) continue;
    if (!list) co_return fail(list.error());
    for (const Value& entry : list->object["resources"].items()) {
      const auto kind = std::ranges::find(kinds, entry["kind"].as_string(), &kube::GroupVersionKind::kind);
      const auto verbs = entry["verbs"].items();
      const auto has = [&](const char* verb) { return std::ranges::find(verbs, Value(verb)) != verbs.end(); };
      if (kind == kinds.end() || !has("list") || entry["name"].as_string().contains('/')) continue;
      snapshot.kinds_.push_back(type_of(*kind, entry));
      if (!has("watch")) snapshot.computed_.insert(key_of(*kind));
    }
  }
  const std::vector<kube::ResourceTypePtr> types = snapshot.kinds_;
  for (const kube::ResourceTypePtr& type : types) {
    if (snapshot.computed_.contains(key_of(type->kind))) continue;
    client::ListQuery query;
    query.ns = type->is_namespaced ? ns : "";
    SLIPWAY_CO_TRY(list, co_await client::list(client, type->resource, query));
    std::vector<Value>& objects = snapshot.objects_[key_of(type->kind)];
    for (const Value& item : list["items"].items()) {
      objects.push_back(item.with("apiVersion", type->kind.api_version()).with("kind", type->kind.kind));
    }
  }
  co_return snapshot;
}

Task<Result<void>> Snapshot::add_computed(remote::RemoteClient& client, std::string word, kube::ObjectKey key) {
  const auto type = find_word(word);
  if (!type || !computed_.contains(key_of((*type)->kind))) co_return Result<void>{};
  if (!(*type)->is_namespaced) key.ns.clear();
  auto object = co_await client::get(client, (*type)->resource, key);
  if (!object) co_return fail(std::move(object).error());
  objects_[key_of((*type)->kind)] = {object->with("apiVersion", (*type)->kind.api_version()).with("kind", (*type)->kind.kind)};
  co_return Result<void>{};
}

std::vector<std::string> Snapshot::words() const {
  std::vector<std::string> words;
  for (const kube::ResourceTypePtr& type : kinds_) words.push_back(type->resource.plural);
  return words;
}

json::Value Snapshot::find(const Value& reference) const {
  const auto kind = kube::GroupVersionKind::of(reference);
  if (!kind) return {};
  const std::string_view name = reference.has("name") ? reference["name"].as_string() : kube::name(reference);
  for (const Value& object : all(*kind)) {
    if (kube::name(object) == name) return object;
  }
  return {};
}

std::vector<json::Value> Snapshot::owned_by(const Value& owner, const kube::GroupVersionKind& kind) const {
  std::vector<Value> owned = all(kind);
  std::erase_if(owned, [&](const Value& object) { return kube::controller_of(object)["uid"] != owner["metadata"]["uid"]; });
  return owned;
}

std::vector<json::Value> Snapshot::all(const kube::GroupVersionKind& kind) const {
  const auto found = objects_.find(key_of(kind));
  return found == objects_.end() ? std::vector<Value>() : found->second;
}

}  // namespace slipway::cli

#include "cli/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plane/families.h"

namespace slipway::cli {

namespace {

using json::Value;

/// Objects of other namespaces, so that a pipeline of very many targets is not read whole.
constexpr std::size_t kMaxElsewhere = 200;

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

/// Items of a list on the wire have no kind of their own.
Value with_kind(const Value& item, const kube::GroupVersionKind& kind) {
  return item.with("apiVersion", kind.api_version()).with("kind", kind.kind);
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
  snapshot.ns_ = std::move(ns);
  snapshot.now_ = now;
  SLIPWAY_CO_TRY_VOID(co_await snapshot.discover(client));
  SLIPWAY_CO_TRY_VOID(co_await snapshot.list_all(client));
  co_return snapshot;
}

Task<Result<void>> Snapshot::discover(remote::RemoteClient& client) {
  for (const auto& [path, kinds] : kinds_by_path()) {
    const auto list = co_await client.get_path(path);
    if (!list && list.error().reason == Reason::NotFound) continue;
    if (!list) co_return fail(list.error());
    add_served(list->object, kinds);
  }
  for (const kube::GroupVersionKind& kind : plane::foreign_kinds()) {
    SLIPWAY_CO_TRY_VOID(co_await discover_foreign(client, kind));
  }
  co_return Result<void>{};
}

/// In the version that the cluster prefers, or the first other one that has it.
Task<Result<void>> Snapshot::discover_foreign(remote::RemoteClient& client, kube::GroupVersionKind kind) {
  const auto group = co_await client.get_path("/apis/" + kind.group);
  if (!group && group.error().reason == Reason::NotFound) co_return Result<void>{};
  if (!group) co_return fail(group.error());
  std::vector<std::string> versions = {group->object["preferredVersion"]["version"].str()};
  for (const Value& one : group->object["versions"].items()) versions.push_back(one["version"].str());
  for (const std::string& version : versions) {
    kind.version = version;
    const auto list = co_await client.get_path("/apis/" + kind.api_version());
    if (!list && list.error().reason == Reason::NotFound) continue;
    if (!list) co_return fail(list.error());
    if (!add_served(list->object, {kind})) continue;
    foreign_.insert(key_of(kind));
    break;
  }
  co_return Result<void>{};
}

/// Of `kinds` those that discovery lists. False when it lists none.
bool Snapshot::add_served(const Value& list, const std::vector<kube::GroupVersionKind>& kinds) {
  bool has_added = false;
  for (const Value& entry : list["resources"].items()) {
    const auto kind = std::ranges::find(kinds, entry["kind"].as_string(), &kube::GroupVersionKind::kind);
    const auto verbs = entry["verbs"].items();
    const auto has = [&](const char* verb) { return std::ranges::find(verbs, Value(verb)) != verbs.end(); };
    if (kind == kinds.end() || !has("list") || entry["name"].as_string().contains('/')) continue;
    kinds_.push_back(type_of(*kind, entry));
    if (!has("watch")) computed_.insert(key_of(*kind));
    has_added = true;
  }
  return has_added;
}

/// Whoever may not list kinds of others still sees the rest.
Task<Result<void>> Snapshot::list_all(remote::RemoteClient& client) {
  const std::vector<kube::ResourceTypePtr> types = kinds_;
  for (const kube::ResourceTypePtr& type : types) {
    const std::string key = key_of(type->kind);
    if (computed_.contains(key)) continue;
    client::ListQuery query;
    query.ns = type->is_namespaced ? ns_ : "";
    const auto list = co_await client::list(client, type->resource, query);
    if (!list && list.error().reason == Reason::Forbidden && foreign_.contains(key)) {
      refused_.emplace(key, list.error());
      continue;
    }
    if (!list) co_return fail(list.error());
    std::vector<Value>& objects = objects_[key];
    for (const Value& item : (*list)["items"].items()) objects.push_back(with_kind(item, type->kind));
  }
  co_return Result<void>{};
}

Task<Result<bool>> Snapshot::read_missed(client::Client& client, std::vector<std::string>& notes) {
  bool has_found = false;
  const std::set<Elsewhere> missed = std::exchange(missed_, {});
  for (const Elsewhere& one : missed) {
    if (elsewhere_.contains(one)) continue;
    if (elsewhere_.size() == kMaxElsewhere) {
      notes.push_back(fmt::format("more than {} objects of other namespaces are named: no more are read", kMaxElsewhere));
      break;
    }
    const auto is_kind = [&](const kube::ResourceTypePtr& type) { return key_of(type->kind) == one.kind; };
    const auto type = std::ranges::find_if(kinds_, is_kind);
    if (type == kinds_.end()) continue;
    const kube::ResourceTypePtr known = *type;
    const auto object = co_await client::get(client, known->resource, {one.ns, one.name});
    if (!object && object.error().reason == Reason::Forbidden) {
      notes.push_back(fmt::format("{} {}/{} cannot be read: {}", known->singular, one.ns, one.name, object.error().message));
    } else if (!object && object.error().reason != Reason::NotFound) {
      co_return fail(object.error());
    }
    elsewhere_[one] = object ? with_kind(*object, known->kind) : Value();
    has_found = has_found || object.has_value();
  }
  co_return has_found;
}

Task<Result<void>> Snapshot::add_computed(remote::RemoteClient& client, std::string word, kube::ObjectKey key) {
  const auto type = find_word(word);
  if (!type || !computed_.contains(key_of((*type)->kind))) co_return Result<void>{};
  if (!(*type)->is_namespaced) key.ns.clear();
  auto object = co_await client::get(client, (*type)->resource, key);
  if (!object) co_return fail(std::move(object).error());
  objects_[key_of((*type)->kind)] = {with_kind(*object, (*type)->kind)};
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
  const std::string_view ns = reference.has("namespace") ? reference["namespace"].as_string() : kube::ns(reference);
  for (const Value& object : all(*kind)) {
    const bool is_there = ns.empty() || kube::ns(object).empty() || kube::ns(object) == ns;
    if (is_there && kube::name(object) == name) return object;
  }
  const bool is_namespaced = std::ranges::any_of(
      kinds_, [&](const kube::ResourceTypePtr& type) { return type->is_namespaced && key_of(type->kind) == key_of(*kind); });
  if (ns.empty() || ns == ns_ || !is_namespaced) return {};
  const Elsewhere wanted{.kind = key_of(*kind), .ns = std::string(ns), .name = std::string(name)};
  const auto known = elsewhere_.find(wanted);
  if (known != elsewhere_.end()) return known->second;
  missed_.insert(wanted);
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

const Status* Snapshot::refusal(const kube::GroupVersionKind& kind) const {
  const auto found = refused_.find(key_of(kind));
  return found == refused_.end() ? nullptr : &found->second;
}

}  // namespace slipway::cli

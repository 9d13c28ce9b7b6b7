#include "cli/snapshot.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::cli {

namespace {

using json::Value;

/// The groups whose kinds explain rows know, and in them the kinds that are read.
struct Group {
  const char* path;
  const char* group;
  const char* version;
  std::vector<std::string> kinds;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups{
      {"/api/v1", "", "v1", {"Pod", "Event"}},
      {"/apis/apps/v1", "apps", "v1", {"Deployment", "ReplicaSet"}},
      {"/apis/batch/v1", "batch", "v1", {"Job"}},
      {"/apis/batch.slipway.dev/v1alpha1", "batch.slipway.dev", "v1alpha1", {"Workflow", "WorkflowStepSet"}}};
  return kGroups;
}

std::string key_of(const kube::GroupVersionKind& kind) { return kind.group + "/" + kind.kind; }

KnownKind known_kind(const Group& group, const Value& entry) {
  KnownKind known;
  known.kind = {group.group, group.version, entry["kind"].str()};
  known.resource = {group.group, group.version, entry["name"].str()};
  known.singular = entry["singularName"].str();
  for (const Value& name : entry["shortNames"].items()) known.short_names.push_back(name.str());
  return known;
}

bool equals(std::string_view a, std::string_view b) { return http::equals_ignoring_case(a, b); }

}  // namespace

Task<Result<Snapshot>> Snapshot::read(remote::RemoteClient& client, std::string ns, Time now) {
  Snapshot snapshot;
  snapshot.now_ = now;
  for (const Group& group : groups()) {
    const auto list = co_await client.get_path(group.path);
    if (!list && list.error().reason == Reason::NotFound) continue;
    if (!list) co_return fail(list.error());
    for (const Value& entry : list->object["resources"].items()) {
      const bool is_wanted = std::find(group.kinds.begin(), group.kinds.end(), entry["kind"].as_string()) != group.kinds.end();
      if (is_wanted && !entry["name"].as_string().contains('/')) snapshot.kinds_.push_back(known_kind(group, entry));
    }
  }
  const std::vector<KnownKind> kinds = snapshot.kinds_;
  for (const KnownKind& known : kinds) {
    client::ListQuery query;
    query.ns = ns;
    SLIPWAY_CO_TRY(list, co_await client::list(client, known.resource, query));
    std::vector<Value>& objects = snapshot.objects_[key_of(known.kind)];
    const std::string version = known.kind.group.empty() ? known.kind.version : known.kind.group + "/" + known.kind.version;
    for (const Value& item : list["items"].items()) {
      objects.push_back(item.with("apiVersion", version).with("kind", known.kind.kind));
    }
  }
  co_return snapshot;
}

const KnownKind* Snapshot::find_word(std::string_view word) const {
  const std::string_view name = word.substr(0, word.find('.'));
  const std::string_view group = word.contains('.') ? word.substr(word.find('.') + 1) : "";
  const auto at = std::find_if(kinds_.begin(), kinds_.end(), [&](const KnownKind& known) {
    if (!group.empty() && group != known.kind.group) return false;
    const auto& shorts = known.short_names;
    return equals(name, known.resource.plural) || equals(name, known.singular) || equals(name, known.kind.kind) ||
           std::any_of(shorts.begin(), shorts.end(), [&](const std::string& one) { return equals(name, one); });
  });
  return at == kinds_.end() ? nullptr : &*at;
}

std::vector<std::string> Snapshot::words() const {
  std::vector<std::string> words;
  for (const KnownKind& known : kinds_) words.push_back(known.resource.plural);
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

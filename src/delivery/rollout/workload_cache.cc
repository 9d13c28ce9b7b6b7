#include "delivery/rollout/workload_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/well_known.h"

namespace slipway::delivery::rollout {
namespace {

using kube::Object;
using kube::ObjectKey;

constexpr const char* kByController = "controller";
constexpr const char* kByComponent = "component";
const kube::Resource kControllerRevisions{"apps", "v1", "controllerrevisions"};

std::vector<std::string> controller_uid(const Object& object) {
  const json::Value& owner = kube::controller_of(object);
  return owner.is_null() ? std::vector<std::string>{} : std::vector<std::string>{owner["uid"].str()};
}

std::string component_key(std::string_view ns, std::string_view application, std::string_view component) {
  return fmt::format("{}/{}/{}", ns, application, component);
}

std::vector<std::string> components_of(const Object& object) {
  const auto component = kube::label(object, "app.oam.dev/component"), application = kube::label(object, "app.oam.dev/name");
  if (component.empty() || application.empty()) return {};
  return {component_key(kube::ns(object), application, component)};
}

}  // namespace

void WorkloadCache::watch(control::Watches& watches) {
  watches_ = &watches;
  enqueue_ = watches.enqueue();
  control::InformerLease rows = watches.lease(watches.home(), kube::kConfigMaps, control::Form::Metadata);
  if (!rows) return;
  rows.on_change([this](const Object& before, const Object& after) { row_changed(before, after); });
  leases_.insert_or_assign(kube::kConfigMaps, std::move(rows));
}

control::Informer& WorkloadCache::cache_of(const kube::Resource& resource, As as) {
  auto& leases = as == As::Part ? parts_ : leases_;
  if (const auto held = leases.find(resource); held != leases.end()) return *held->second;
  // What a ReplicaSet says as a part stands in its labels, annotations and owner: its copy of the template need not be kept.
  const bool is_part_set = as == As::Part && resource == kube::kReplicaSets;
  control::InformerLease lease =
      watches_->lease(watches_->home(), resource, is_part_set ? control::Form::Metadata : control::Form::Whole);
  lease->keep_trees();  // gates let each rollout be looked at every ten seconds
  if (as == As::Part) {
    lease->add_index(kByController, controller_uid);
    if (resource == kube::kPods) {
      lease.on_change([this](const Object& before, const Object& after) { pod_changed(before, after); });
    }
  } else {
    lease->add_index(kByComponent, components_of);
    lease.on_change([this, resource](const Object& before, const Object& after) {
      const auto known = by_object_.find({resource, kube::key_of(after.is_null() ? before : after)});
      if (known != by_object_.end()) wake(known->second);
    });
  }
  return *leases.insert_or_assign(resource, std::move(lease)).first->second;
}

Task<> WorkloadCache::load(kube::Resource resource, As as) { co_await cache_of(resource, as).wait_synced(); }

const WorkloadRow* WorkloadCache::row_of(const kube::GroupVersionKind& kind) {
  if (const WorkloadRow* built_in = find_row(workload_rows(), kind)) return built_in;
  for (const auto& [key, row] : users_rows_) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

std::vector<Object> WorkloadCache::owned(const kube::Resource& resource, std::string_view uid) {
  return cache_of(resource, As::Part).index(kByController, std::string(uid));
}

Task<Result<kube::Resource>> WorkloadCache::resource_of(client::Client& client, kube::GroupVersionKind kind) {
  SLIPWAY_CO_TRY(mapped, co_await kinds_.find(client, watches_->home(), kind));
  resources_[kind] = mapped.resource;
  if (!mapped.is_namespaced) cluster_scoped_.insert(kind);
  co_return mapped.resource;
}

std::optional<kube::Resource> WorkloadCache::known_resource(const kube::GroupVersionKind& kind) const {
  const auto known = resources_.find(kind);
  return known == resources_.end() ? std::nullopt : std::optional(known->second);
}

Task<Result<Object>> WorkloadCache::find_object(client::Client& client, kube::GroupVersionKind kind, ObjectKey key) {
  SLIPWAY_CO_TRY(resource, co_await resource_of(client, kind));
  co_await load(resource);
  co_return cache_of(resource).get(key);
}

Task<Result<std::vector<Object>>> WorkloadCache::find_of_component(client::Client& client, kube::GroupVersionKind kind,
                                                                   Component of) {
  if (of.application.empty() || row_of(kind) == nullptr) co_return std::vector<Object>();
  SLIPWAY_CO_TRY(resource, co_await resource_of(client, kind));
  co_await load(resource);
  std::vector<Object> found = cache_of(resource).index(kByComponent, component_key(of.ns, of.application, of.name));
  std::ranges::sort(found, {}, [](const Object& one) {
    return std::pair(one["metadata"]["creationTimestamp"].str(), std::string(kube::name(one)));
  });
  co_return found;
}

Task<Result<Workload>> WorkloadCache::find(client::Client& client, kube::GroupVersionKind kind, ObjectKey key) {
  Workload found;
  found.id = set_id(kind, key.name);
  found.kind = kind;
  SLIPWAY_CO_TRY_VOID(co_await read_rows(client));
  if (row_of(kind) == nullptr) co_return found;
  auto object = co_await find_object(client, kind, key);
  if (!object && object.error().reason == Reason::NotFound) co_return found;  // the kind is not served
  if (!object) co_return fail(std::move(object).error());
  for (const kube::Resource& resource : {kube::kPods, kube::kReplicaSets, kControllerRevisions}) {
    co_await load(resource, As::Part);
  }
  // Rows may have gone meanwhile.
  found.row = row_of(kind);
  found.object = std::move(*object);
  if (found.row == nullptr || found.object.is_null()) co_return found;
  const std::string uid(kube::uid(found.object));
  const bool has_sets = found.row->revision == RevisionBy::ReplicaSet;
  found.revisions = owned(has_sets ? kube::kReplicaSets : kControllerRevisions, uid);
  found.pods = owned(kube::kPods, uid);
  if (!has_sets) co_return found;
  for (const Object& set : found.revisions) {
    for (Object& pod : owned(kube::kPods, kube::uid(set))) found.pods.push_back(std::move(pod));
  }
  co_return found;
}

Object WorkloadCache::pod(const ObjectKey& key) const {
  const auto held = parts_.find(kube::kPods);
  return held == parts_.end() ? Object() : held->second->get(key);
}

void WorkloadCache::follow(const ObjectKey& rollout, std::set<Looked> objects) {
  const auto before = looked_.find(rollout);
  if (before != looked_.end() && before->second == objects) return;
  if (before != looked_.end()) {
    for (const Looked& one : before->second) {
      const Place place{one.resource, one.key};
      if (const auto at = by_object_.find(place); at != by_object_.end()) {
        at->second.erase(rollout);
        if (at->second.empty()) by_object_.erase(at);
      }
      if (const auto at = by_pod_owner_.find(one.uid); at != by_pod_owner_.end()) {
        at->second.erase(rollout);
        if (at->second.empty()) by_pod_owner_.erase(at);
      }
    }
    looked_.erase(before);
  }
  if (objects.empty()) return;
  for (const Looked& one : objects) {
    by_object_[{one.resource, one.key}].insert(rollout);
    if (!one.uid.empty()) by_pod_owner_[one.uid].insert(rollout);
  }
  looked_.emplace(rollout, std::move(objects));
}

void WorkloadCache::forget(const ObjectKey& rollout) {
  without_row_.erase(rollout);
  follow(rollout, {});
}

void WorkloadCache::wake(const std::set<ObjectKey>& rollouts) {
  for (const ObjectKey& rollout : rollouts) enqueue_(rollout);
}

void WorkloadCache::pod_changed(const Object& before, const Object& after) {
  if (!before.is_null() && !after.is_null() && counts_alike(before, after)) return;
  const Object& pod = after.is_null() ? before : after;
  const json::Value& owner = kube::controller_of(pod);
  if (owner.is_null()) return;
  auto known = by_pod_owner_.find(owner["uid"].as_string());
  if (known == by_pod_owner_.end()) {
    const auto sets = parts_.find(kube::kReplicaSets);
    if (sets == parts_.end()) return;
    const Object set = sets->second->get({std::string(kube::ns(pod)), owner["name"].str()});
    known = by_pod_owner_.find(kube::controller_of(set)["uid"].as_string());
  }
  if (known != by_pod_owner_.end()) wake(known->second);
}

void WorkloadCache::row_changed(const Object& before, const Object& after) {
  const Object& map = after.is_null() ? before : after;
  const bool is_row = !after.is_null() && kube::label(after, kRowLabel) == "true" && kube::ns(after) == kRowNamespace;
  const bool was_known = users_rows_.erase(kube::key_of(map)) + row_faults_.erase(kube::key_of(map)) > 0;
  if (!is_row && !was_known) return;
  if (is_row) unread_rows_.insert(kube::key_of(map));
  for (const auto& [rollout, objects] : looked_) enqueue_(rollout);
  for (const ObjectKey& rollout : without_row_) enqueue_(rollout);
}

/// A row that cannot be read is none: rollouts of unknown kinds name it.
Task<Result<void>> WorkloadCache::read_rows(client::Client& client) {
  co_await load(kube::kConfigMaps);
  while (!unread_rows_.empty()) {
    const ObjectKey key = *unread_rows_.begin();
    auto map = co_await client::get(client, kube::kConfigMaps, key);
    if (!map && map.error().reason != Reason::NotFound) co_return fail(std::move(map).error());
    unread_rows_.erase(key);
    if (!map) continue;
    if (auto row = row_from(*map)) {
      users_rows_.insert_or_assign(key, std::move(*row));
    } else {
      row_faults_[key] = row.error().message;
      faulty_rows_.push_back(std::move(*map));
    }
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::rollout

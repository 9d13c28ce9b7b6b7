#include "cluster/garbage_collector.h"

#include <algorithm>
#include <set>

#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kManager = "slipway-gc";
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";

bool waits_for_dependents(const kube::Object& owner) {
  return kube::is_deleting(owner) && kube::has_finalizer(owner, kForeground);
}

std::vector<std::string> owner_uids(const kube::Object& object) {
  std::vector<std::string> uids;
  for (const Value& reference : object["metadata"]["ownerReferences"].items()) uids.push_back(reference["uid"].str());
  return uids;
}

/// Takes the references to those uids out; Conflict when the object has changed since.
Task<Result<void>> disown(client::Client& client, kube::Resource resource, kube::Object object, std::set<std::string> uids) {
  json::ArrayBuilder kept;
  for (const Value& reference : object["metadata"]["ownerReferences"].items()) {
    if (!uids.contains(reference["uid"].str())) kept.add(reference);
  }
  const Value metadata = json::object({{"uid", object["metadata"]["uid"]},
                                       {"resourceVersion", object["metadata"]["resourceVersion"]},
                                       {"ownerReferences", kept.empty() ? Value() : kept.build()}});
  const auto patched =
      co_await client::merge_patch(client, resource, kube::key_of(object), json::object({{"metadata", metadata}}), kManager);
  if (!patched && patched.error().reason != Reason::NotFound) co_return fail(patched.error());
  co_return Result<void>{};
}

}  // namespace

std::vector<std::unique_ptr<control::Controller>> GarbageCollector::make_all(Env& env, std::vector<OwnableKind> kinds) {
  const auto shared = std::make_shared<const std::vector<OwnableKind>>(std::move(kinds));
  std::vector<std::unique_ptr<control::Controller>> controllers;
  for (const OwnableKind& kind : *shared) controllers.push_back(std::make_unique<GarbageCollector>(env, shared, kind.resource));
  return controllers;
}

void GarbageCollector::watch(control::Watches& watches) {
  for (const OwnableKind& kind : *kinds_) {
    caches_.push_back(&watches.cache(kind.resource));
    if (kind.resource == resource_) own_ = caches_.back();
  }
  own_->add_index("owner", owner_uids);
  watches.changes(resource_, [this](const Value& before, const Value& after) {
    std::vector<kube::ObjectKey> keys;
    if (needs_look(before, after)) keys.push_back(kube::key_of(after));
    return keys;
  });
  for (const OwnableKind& kind : *kinds_) {
    watches.changes(kind.resource, [this](const Value& before, const Value& after) { return dependents_of(before, after); });
    watches.changes(kind.resource, [this](const Value& before, const Value& after) { return released_owners(before, after); });
  }
}

const OwnableKind* GarbageCollector::kind_of(const Value& reference) const {
  const std::string_view version = reference["apiVersion"].as_string();
  const std::size_t slash = version.find('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view{} : version.substr(0, slash);
  for (const OwnableKind& kind : *kinds_) {
    if (kind.kind == reference["kind"].as_string() && kind.resource.group == group) return &kind;
  }
  return nullptr;
}

kube::ObjectKey GarbageCollector::owner_key(const Value& reference, const kube::Object& object) const {
  const OwnableKind* kind = kind_of(reference);
  return {kind != nullptr && kind->is_namespaced ? std::string(kube::ns(object)) : std::string(), reference["name"].str()};
}

const kube::Object* GarbageCollector::cached_owner(const Value& reference, const kube::Object& object) const {
  const OwnableKind* kind = kind_of(reference);
  if (kind == nullptr) return nullptr;
  const kube::Object* owner = caches_[static_cast<std::size_t>(kind - kinds_->data())]->find(owner_key(reference, object));
  return owner != nullptr && kube::uid(*owner) == reference["uid"].as_string() ? owner : nullptr;
}

/// Most changes mean nothing here: only an object whose owners are missing or waiting, or that waits itself, is looked at.
bool GarbageCollector::needs_look(const kube::Object& before, const kube::Object& after) const {
  if (after.is_null()) return false;
  if (kube::is_deleting(after)) return kube::has_finalizer(after, kForeground) || kube::has_finalizer(after, kOrphan);
  const Value& references = after["metadata"]["ownerReferences"];
  if (references.empty() || (!before.is_null() && before["metadata"]["ownerReferences"] == references)) return false;
  return std::any_of(references.items().begin(), references.items().end(), [&](const Value& reference) {
    const kube::Object* owner = cached_owner(reference, after);
    return owner == nullptr || waits_for_dependents(*owner);
  });
}

/// Keys of our objects that depend on an owner that went, was replaced, or has begun to wait for them.
std::vector<kube::ObjectKey> GarbageCollector::dependents_of(const kube::Object& before, const kube::Object& after) const {
  std::vector<kube::ObjectKey> keys;
  const auto add = [&](const kube::Object& owner) {
    for (const kube::Object& object : own_->index("owner", std::string(kube::uid(owner)))) keys.push_back(kube::key_of(object));
  };
  if (!before.is_null() && (after.is_null() || kube::uid(before) != kube::uid(after))) add(before);
  if (!after.is_null() && waits_for_dependents(after) && (before.is_null() || !waits_for_dependents(before))) add(after);
  return keys;
}

/// Keys of our objects that wait for dependents, one of which went or let go.
std::vector<kube::ObjectKey> GarbageCollector::released_owners(const kube::Object& before, const kube::Object& after) const {
  std::vector<kube::ObjectKey> keys;
  if (before.is_null()) return keys;
  const Value& references = before["metadata"]["ownerReferences"];
  if (references.empty() || (!after.is_null() && after["metadata"]["ownerReferences"] == references)) return keys;
  for (const Value& reference : references.items()) {
    const OwnableKind* kind = kind_of(reference);
    if (kind == nullptr || kind->resource != resource_) continue;
    const kube::Object* owner = cached_owner(reference, before);
    if (owner != nullptr && waits_for_dependents(*owner)) keys.push_back(kube::key_of(*owner));
  }
  return keys;
}

Task<Outcome> GarbageCollector::reconcile(control::Reconcile& run) {
  const kube::Object object = own_->get(run.key);
  if (object.is_null()) co_return Outcome::settled();
  if (!kube::is_deleting(object)) co_return co_await collect(run.client, object);
  Result<void> done;
  if (kube::has_finalizer(object, kOrphan)) {
    done = co_await orphan(run.client, object);
  } else if (kube::has_finalizer(object, kForeground) && !has_blocking_dependents(object)) {
    done = co_await remove_finalizer(run.client, resource_, object, kForeground, kManager);
  }
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

Task<Outcome> GarbageCollector::collect(client::Client& client, kube::Object object) {
  std::set<std::string> lost;
  bool has_solid = false;
  bool is_waited_for = false;
  const Value references = object["metadata"]["ownerReferences"];
  if (references.empty()) co_return Outcome::settled();
  for (const Value& reference : references.items()) {
    const auto state = co_await owner_state(client, reference, object);
    if (!state) co_return Outcome::failed(state.error());
    has_solid |= *state == OwnerState::Solid;
    is_waited_for |= *state == OwnerState::Waiting;
    if (*state != OwnerState::Solid) lost.insert(reference["uid"].str());
  }
  if (lost.empty()) co_return Outcome::settled();
  if (has_solid) {
    const auto done = co_await disown(client, resource_, object, std::move(lost));
    co_return done ? Outcome::settled() : Outcome::failed(done.error());
  }
  client::DeleteQuery query;
  query.uid = std::string(kube::uid(object));
  query.resource_version = object["metadata"]["resourceVersion"].str();
  if (kube::has_finalizer(object, kOrphan)) {
    query.propagation = "Orphan";
  } else if (kube::has_finalizer(object, kForeground) || (is_waited_for && has_dependents(object))) {
    query.propagation = "Foreground";
  }
  const auto removed = co_await client::remove(client, resource_, kube::key_of(object), query);
  if (!removed && removed.error().reason != Reason::NotFound) co_return Outcome::failed(removed.error());
  co_return Outcome::settled();
}

Task<Result<GarbageCollector::OwnerState>> GarbageCollector::owner_state(client::Client& client, Value reference,
                                                                         kube::Object object) {
  const OwnableKind* kind = kind_of(reference);
  if (kind == nullptr || (kind->is_namespaced && kube::ns(object).empty())) co_return OwnerState::Solid;
  if (const kube::Object* owner = cached_owner(reference, object)) {
    co_return waits_for_dependents(*owner) ? OwnerState::Waiting : OwnerState::Solid;
  }
  // The cache may be old, or the owner's namespace another one: only the server knows.
  const auto owner = co_await client::get(client, kind->resource, owner_key(reference, object));
  if (!owner && owner.error().reason == Reason::NotFound) co_return OwnerState::Dangling;
  if (!owner) co_return fail(owner.error());
  if (kube::uid(*owner) != reference["uid"].as_string()) co_return OwnerState::Dangling;
  co_return waits_for_dependents(*owner) ? OwnerState::Waiting : OwnerState::Solid;
}

bool GarbageCollector::has_dependents(const kube::Object& owner) const {
  const std::string uid(kube::uid(owner));
  return std::any_of(caches_.begin(), caches_.end(),
                     [&](const control::Informer* cache) { return !cache->index("owner", uid).empty(); });
}

bool GarbageCollector::has_blocking_dependents(const kube::Object& owner) const {
  const std::string uid(kube::uid(owner));
  for (const control::Informer* cache : caches_) {
    for (const kube::Object& dependent : cache->index("owner", uid)) {
      for (const Value& reference : dependent["metadata"]["ownerReferences"].items()) {
        if (reference["uid"].as_string() == uid && reference["blockOwnerDeletion"].as_bool()) return true;
      }
    }
  }
  return false;
}

/// Asks the server, not the caches, for dependents: one that is overlooked here would be deleted later.
Task<Result<void>> GarbageCollector::orphan(client::Client& client, kube::Object owner) {
  const std::string uid(kube::uid(owner));
  // All is read before the first write begins: an error in between must not leave writes behind that nobody waits for.
  std::vector<std::pair<kube::Resource, Value>> dependents;
  for (const OwnableKind& kind : *kinds_) {
    if (!kind.is_namespaced && !kube::ns(owner).empty()) continue;
    client::ListQuery query;
    query.ns = std::string(kube::ns(owner));
    SLIPWAY_CO_TRY(list, co_await client::list(client, kind.resource, query));
    for (const Value& item : list["items"].items()) {
      if (kube::is_owned_by(item, uid)) dependents.emplace_back(kind.resource, item);
    }
  }
  Writes writes(env_);
  for (const auto& [resource, dependent] : dependents) writes.add(disown(client, resource, dependent, {uid}));
  SLIPWAY_CO_TRY_VOID(co_await writes.join());
  co_return co_await remove_finalizer(client, resource_, std::move(owner), kOrphan, kManager);
}

}  // namespace slipway::cluster

#include "cluster/garbage_collector.h"

#include <algorithm>

#include "cluster/names.h"
#include "cluster/writes.h"
#include "kube/builtin.h"

namespace slipway::cluster {

namespace {

using control::Outcome;
using json::Value;

constexpr const char* kGarbageManager = "slipway-gc";
/// How soon an object is looked at again whose owner's kind is just being listed.
constexpr Duration kRecheckOwners = std::chrono::milliseconds{100};

/// A merge patch of the owner references, for exactly this version of the object.
Task<Result<void>> write_references(client::Client& client, kube::Resource resource, kube::Object object, Value references) {
  const Value metadata = json::object({{"uid", object["metadata"]["uid"]},
                                       {"resourceVersion", object["metadata"]["resourceVersion"]},
                                       {"ownerReferences", references.empty() ? Value() : references}});
  const auto patched = co_await client::merge_patch(client, std::move(resource), kube::key_of(object),
                                                    json::object({{"metadata", metadata}}), kGarbageManager);
  if (!patched && patched.error().reason != Reason::NotFound) co_return fail(patched.error());
  co_return Result<void>{};
}

/// Takes the references to those uids out; Conflict when the object has changed since.
Task<Result<void>> disown(client::Client& client, kube::Resource resource, kube::Object object, std::set<std::string> uids) {
  json::ArrayBuilder kept;
  for (const Value& reference : object["metadata"]["ownerReferences"].items()) {
    if (!uids.contains(reference["uid"].str())) kept.add(reference);
  }
  return write_references(client, std::move(resource), std::move(object), kept.build());
}

/// Takes every blockOwnerDeletion back.
Task<Result<void>> unblock(client::Client& client, kube::Resource resource, kube::Object object) {
  json::ArrayBuilder open;
  for (const Value& reference : object["metadata"]["ownerReferences"].items()) {
    open.add(reference["blockOwnerDeletion"].as_bool() ? reference.with("blockOwnerDeletion", false) : reference);
  }
  return write_references(client, std::move(resource), std::move(object), open.build());
}

/// The version in which the objects of an established definition can be read; nullopt when there is none.
std::optional<kube::Resource> readable(const kube::Object& definition) {
  if (definition.is_null() || !kube::is_true(definition, "Established")) return std::nullopt;
  const Value& spec = definition["spec"];
  for (const Value& version : spec["versions"].items()) {
    if (version["served"].as_bool())
      return kube::Resource{spec["group"].str(), version["name"].str(), spec["names"]["plural"].str()};
  }
  return std::nullopt;
}

std::vector<kube::ObjectKey> keys_of(const std::vector<std::string>& uids) {
  std::vector<kube::ObjectKey> keys;
  keys.reserve(uids.size());
  for (const std::string& uid : uids) keys.push_back({"", uid});
  return keys;
}

}  // namespace

void GarbageCollector::watch(control::Watches& watches) {
  watches_ = &watches;
  for (const kube::ResourceType& type : kube::builtin_types()) {
    if (type.kind.kind == "Event") continue;
    Kind& kind = kinds_[type.resource.group_resource()];
    if (kind.cache != nullptr) continue;  // another version of it
    kind.resource = type.resource;
    kind.kind = type.kind.kind;
    kind.is_namespaced = type.is_namespaced;
    kind.cache = &watches.changes(
        type.resource,
        [this, resource = type.resource](const Value& before, const Value& after) { return changed(resource, before, after); },
        control::Form::Metadata);
  }
  watches.changes(kDefinitions, [this](const Value& before, const Value& after) {
    definition_changed(before, after);
    return std::vector<kube::ObjectKey>();
  });
}

/// Follows a kind as long as its definition is established and serves some version.
void GarbageCollector::definition_changed(const kube::Object& before, const kube::Object& after) {
  const auto old = readable(before);
  const auto now = readable(after);
  if (old == now) return;
  if (old) unfollow(old->group_resource());
  if (now) follow(*now, after["spec"]["names"]["kind"].str(), after["spec"]["scope"].as_string() == "Namespaced");
}

void GarbageCollector::follow(kube::Resource resource, std::string kind, bool is_namespaced) {
  Kind& followed = kinds_[resource.group_resource()];
  if (followed.cache != nullptr) return;  // a name of ours: the definition is not accepted
  followed.resource = resource;
  followed.kind = kind;
  followed.is_namespaced = is_namespaced;
  followed.lease = watches_->lease(watches_->home(), resource, control::Form::Metadata);
  followed.cache = &*followed.lease;
  const auto enqueue = watches_->enqueue();
  followed.lease.on_change([this, resource, enqueue](const Value& before, const Value& after) {
    for (const kube::ObjectKey& key : changed(resource, before, after)) enqueue(key);
  });
  // Their owners were taken to exist, as their kind was not known.
  for (const kube::ObjectKey& key : keys_of(graph_.dependents_on_kind(resource.group, kind))) enqueue(key);
}

void GarbageCollector::unfollow(const std::string& group_resource) {
  const auto found = kinds_.find(group_resource);
  if (found == kinds_.end() || !found->second.lease) return;
  graph_.forget(found->second.resource);
  kinds_.erase(found);
}

std::vector<kube::ObjectKey> GarbageCollector::changed(const kube::Resource& resource, const kube::Object& before,
                                                       const kube::Object& after) {
  std::vector<kube::ObjectKey> keys = keys_of(graph_.change(resource, before, after));
  if (needs_look(before, after)) keys.push_back({"", std::string(kube::uid(after))});
  return keys;
}

/// Most changes mean nothing here: only an object whose owners are missing or waiting, or that waits itself, is looked at.
bool GarbageCollector::needs_look(const kube::Object& before, const kube::Object& after) const {
  if (after.is_null()) return false;
  if (kube::is_deleting(after)) {
    return kube::has_finalizer(after, kForegroundDeletion) || kube::has_finalizer(after, kOrphanDependents);
  }
  const Value& references = after["metadata"]["ownerReferences"];
  if (references.empty() || (!before.is_null() && before["metadata"]["ownerReferences"] == references)) return false;
  return std::any_of(references.items().begin(), references.items().end(), [&](const Value& reference) {
    const Kind* kind = kind_of(reference);
    const kube::Object owner = kind == nullptr ? Value() : cached_owner(*kind, reference, after);
    return owner.is_null() || waits_for_dependents(owner);
  });
}

const GarbageCollector::Kind* GarbageCollector::kind_of(const Value& reference) const {
  for (const auto& [name, kind] : kinds_) {
    if (kube::refers_to(reference, kind.resource.group, kind.kind)) return &kind;
  }
  return nullptr;
}

kube::Object GarbageCollector::cached_owner(const Kind& kind, const Value& reference, const kube::Object& object) const {
  const kube::ObjectKey key{kind.is_namespaced ? std::string(kube::ns(object)) : std::string(), reference["name"].str()};
  kube::Object owner = kind.cache->get(key);
  return kube::uid(owner) == reference["uid"].as_string() ? owner : Value();
}

Task<Outcome> GarbageCollector::reconcile(control::Reconcile& run) {
  const OwnerGraph::Node* node = graph_.find(run.key.name);
  if (node == nullptr) co_return Outcome::settled();
  const kube::Resource resource = node->resource;
  const auto kind = kinds_.find(resource.group_resource());
  if (kind == kinds_.end()) co_return Outcome::settled();
  const kube::Object object = kind->second.cache->get(node->key);
  if (object.is_null() || kube::uid(object) != run.key.name) co_return Outcome::settled();
  if (kube::is_deleting(object)) co_return co_await end(run.client, resource, object);
  co_return co_await collect(run.client, resource, object);
}

/// An object that is being deleted: orphaning comes first, then the wait for dependents.
Task<Outcome> GarbageCollector::end(client::Client& client, kube::Resource resource, kube::Object object) {
  Result<void> done;
  if (kube::has_finalizer(object, kOrphanDependents)) {
    done = co_await orphan(client, resource, object);
  } else if (waits_for_dependents(object) && !graph_.has_blocking_dependents(std::string(kube::uid(object)))) {
    done = co_await remove_finalizer(client, resource, object, kForegroundDeletion, kGarbageManager);
  }
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

Task<Outcome> GarbageCollector::collect(client::Client& client, kube::Resource resource, kube::Object object) {
  auto owners = co_await sort_owners(client, object);
  if (!owners) co_return Outcome::failed(owners.error());
  if (owners->has_unknown) co_return Outcome::retries_after(kRecheckOwners);
  if (owners->lost.empty()) co_return Outcome::settled();
  if (owners->has_solid) {
    const auto done = co_await disown(client, resource, object, std::move(owners->lost));
    co_return done ? Outcome::settled() : Outcome::failed(done.error());
  }
  const std::string uid(kube::uid(object));
  const bool goes_after_dependents = owners->has_waiting && !graph_.dependents(uid).empty();
  if (goes_after_dependents && is_in_a_circle(uid)) {
    // Its owners wait for it, and it would wait for them: it gives way first. Its change brings it here again.
    if (const auto done = co_await unblock(client, resource, object); !done) co_return Outcome::failed(done.error());
  }
  client::DeleteQuery query;
  query.uid = uid;
  if (kube::has_finalizer(object, kOrphanDependents)) {
    query.propagation = "Orphan";
  } else if (kube::has_finalizer(object, kForegroundDeletion) || goes_after_dependents) {
    query.propagation = "Foreground";
  }
  // Without a circle nothing was written here: what was judged is what is deleted.
  if (!goes_after_dependents) query.resource_version = object["metadata"]["resourceVersion"].str();
  const auto removed = co_await client::remove(client, resource, kube::key_of(object), query);
  if (!removed && removed.error().reason != Reason::NotFound) co_return Outcome::failed(removed.error());
  co_return Outcome::settled();
}

/// Some dependent waits for its own dependents, of which this object may be one.
bool GarbageCollector::is_in_a_circle(const std::string& uid) const {
  return std::ranges::any_of(graph_.dependents(uid), [&](const std::string& dependent) {
    const OwnerGraph::Node* node = graph_.find(dependent);
    return node != nullptr && node->waits_for_dependents;
  });
}

Task<Result<GarbageCollector::Owners>> GarbageCollector::sort_owners(client::Client& client, kube::Object object) {
  Owners owners;
  const Value references = object["metadata"]["ownerReferences"];
  for (const Value& reference : references.items()) {
    SLIPWAY_CO_TRY(state, co_await owner_state(client, reference, object));
    owners.has_solid |= state == OwnerState::Solid;
    owners.has_waiting |= state == OwnerState::Waiting;
    owners.has_unknown |= state == OwnerState::Unknown;
    if (state == OwnerState::Dangling || state == OwnerState::Waiting) owners.lost.insert(reference["uid"].str());
  }
  co_return owners;
}

Task<Result<GarbageCollector::OwnerState>> GarbageCollector::owner_state(client::Client& client, Value reference,
                                                                         kube::Object object) {
  const Kind* kind = kind_of(reference);
  if (kind == nullptr || (kind->is_namespaced && kube::ns(object).empty())) co_return OwnerState::Solid;
  if (const kube::Object owner = cached_owner(*kind, reference, object); !owner.is_null()) {
    co_return waits_for_dependents(owner) ? OwnerState::Waiting : OwnerState::Solid;
  }
  if (!kind->cache->is_synced() && !kind->cache->failure()) co_return OwnerState::Unknown;
  // The cache may be old, or the owner's namespace another one: only the server knows.
  const kube::ObjectKey key{kind->is_namespaced ? std::string(kube::ns(object)) : std::string(), reference["name"].str()};
  const auto owner = co_await client::get(client, kind->resource, key);
  if (!owner && owner.error().reason == Reason::NotFound) co_return OwnerState::Dangling;
  if (!owner) co_return fail(owner.error());
  if (kube::uid(*owner) != reference["uid"].as_string()) co_return OwnerState::Dangling;
  co_return waits_for_dependents(*owner) ? OwnerState::Waiting : OwnerState::Solid;
}

/// Asks the server, not the caches, for dependents: one that is overlooked here would be deleted later.
Task<Result<void>> GarbageCollector::orphan(client::Client& client, kube::Resource resource, kube::Object owner) {
  const std::string uid(kube::uid(owner));
  std::vector<kube::Resource> resources;
  for (const auto& [name, kind] : kinds_) {
    if (kind.is_namespaced || kube::ns(owner).empty()) resources.push_back(kind.resource);
  }
  // All is read before the first write begins: an error in between must not leave writes behind that are not waited for.
  std::vector<std::pair<kube::Resource, Value>> dependents;
  for (const kube::Resource& each : resources) {
    client::ListQuery query;
    query.ns = std::string(kube::ns(owner));
    const auto list = co_await client::list(client, each, query);
    if (!list && list.error().reason == Reason::NotFound) continue;  // its definition has gone
    if (!list) co_return fail(list.error());
    for (const Value& item : (*list)["items"].items()) {
      if (kube::is_owned_by(item, uid)) dependents.emplace_back(each, item);
    }
  }
  Writes writes(env_);
  for (const auto& [of, dependent] : dependents) writes.add(disown(client, of, dependent, {uid}));
  SLIPWAY_CO_TRY_VOID(co_await writes.join());
  co_return co_await remove_finalizer(client, std::move(resource), std::move(owner), kOrphanDependents, kGarbageManager);
}

}  // namespace slipway::cluster

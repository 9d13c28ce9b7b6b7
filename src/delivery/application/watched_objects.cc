#include "delivery/application/watched_objects.h"

namespace slipway::delivery::application {

using kube::ObjectKey;

void WatchedObjects::watch(control::Watches& watches) {
  watches_ = &watches;
  enqueue_ = watches.enqueue();
}

std::string WatchedObjects::known_as(const std::string& cluster) const {
  return cluster.empty() || cluster == kHub ? watches_->home() : cluster;
}

Task<> WatchedObjects::replace(control::Reconcile& run, std::vector<workflow::ResourceRef> objects) {
  std::set<Object> wanted;
  for (const workflow::ResourceRef& one : objects) {
    const bool is_home = known_as(one.cluster) == watches_->home();
    const Result<client::Client*> client = is_home ? Result<client::Client*>(&run.client) : run.on(one.cluster);
    if (!client) continue;
    const Value named = json::object({{"apiVersion", one.api_version}, {"kind", one.kind}});
    const auto kind = co_await kinds_.find_for(**client, known_as(one.cluster), named);
    if (kind) wanted.insert({{known_as(one.cluster), kind->resource}, {kind->is_namespaced ? one.ns : "", one.name}});
  }
  // New ones first, so that kinds of both stay followed.
  const std::set<Object> before = std::exchange(objects_[run.key], wanted);
  for (const Object& object : wanted) {
    if (!before.contains(object)) add(run.key, object);
  }
  for (const Object& object : before) {
    if (!wanted.contains(object)) remove(run.key, object);
  }
}

void WatchedObjects::forget(const ObjectKey& run) {
  const auto known = objects_.extract(run);
  changed_.erase(run);
  if (known.empty()) return;
  for (const Object& object : known.mapped()) remove(run, object);
}

void WatchedObjects::add(const ObjectKey& run, const Object& object) {
  const auto& [place, key] = object;
  const auto [at, is_new] = followed_.try_emplace(place);
  at->second.runs[key].insert(run);
  if (!is_new) return;
  at->second.lease = watches_->lease(place.first, place.second, control::Form::Metadata);
  if (!at->second.lease) return;
  at->second.lease.on_change([this, followed = place](const Value& before, const Value& after) {
    on_change(followed, kube::key_of(after.is_null() ? before : after));
  });
}

void WatchedObjects::remove(const ObjectKey& run, const Object& object) {
  const auto followed = followed_.find(object.first);
  if (followed == followed_.end()) return;
  auto& runs = followed->second.runs;
  const auto at = runs.find(object.second);
  if (at == runs.end()) return;
  at->second.erase(run);
  if (at->second.empty()) runs.erase(at);
  if (runs.empty()) followed_.erase(followed);
}

void WatchedObjects::on_change(const Place& place, const ObjectKey& object) {
  const auto followed = followed_.find(place);
  if (followed == followed_.end()) return;
  const auto at = followed->second.runs.find(object);
  if (at == followed->second.runs.end()) return;
  for (const ObjectKey& run : at->second) {
    changed_.insert(run);
    enqueue_(run);
  }
}

}  // namespace slipway::delivery::application

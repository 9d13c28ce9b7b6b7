#include "delivery/application/live.h"

namespace slipway::delivery::application {

void LiveObjects::watch(control::Watches& watches, std::function<void(const kube::ObjectKey& application)> woken) {
  watches_ = &watches;
  woken_ = std::move(woken);
  enqueue_ = watches.enqueue();
  subscription_ = watches.clusters().subscribe([this](const std::string& cluster) { cluster_changed(cluster); });
}

/// Fell out of reach, came back, or is another now: what is known of its objects has another meaning.
void LiveObjects::cluster_changed(const std::string& cluster) {
  for (auto& [key, lease] : leases_) {
    if (key.first != cluster) continue;
    for (const auto& [name, object] : lease->objects()) wake(object);
  }
  std::erase_if(leases_, [&](const auto& one) { return one.first.first == cluster && one.second->is_stopped(); });
}

void LiveObjects::wake(const Value& object) {
  const auto name = kube::label(object, kLabelName);
  const auto ns = kube::label(object, kLabelNamespace);
  if (name.empty() || ns.empty()) return;
  const kube::ObjectKey application{std::string(ns), std::string(name)};
  woken_(application);
  enqueue_(application);
}

std::string LiveObjects::known_as(const std::string& cluster) const {
  return cluster.empty() || cluster == kHub ? watches_->home() : cluster;
}

void LiveObjects::follow(const std::string& cluster, const kube::Resource& resource) {
  const auto key = std::pair(known_as(cluster), resource);
  if (const auto held = leases_.find(key); held != leases_.end() && !held->second->is_stopped()) return;
  control::InformerLease lease = watches_->lease(key.first, resource, control::Form::Whole);
  if (!lease) return;
  lease.on_change([this](const Value& before, const Value& after) { wake(after.is_null() ? before : after); });
  leases_.insert_or_assign(key, std::move(lease));
}

Task<Result<Value>> LiveObjects::find(client::Client& client, std::string cluster, MappedKind kind, std::string ns,
                                      std::string name) {
  follow(cluster, kind.resource);
  const kube::ObjectKey key{kind.is_namespaced ? ns : "", name};
  const auto lease = leases_.find({known_as(cluster), kind.resource});
  const bool is_followed = lease != leases_.end() && lease->second->is_synced() && !lease->second->failure();
  if (is_followed && clusters().reach(known_as(cluster)).is_reachable) co_return lease->second->get(key);
  auto found = co_await client::get(client, kind.resource, key);
  if (!found && found.error().reason == Reason::NotFound) co_return Value();
  co_return found;
}

}  // namespace slipway::delivery::application

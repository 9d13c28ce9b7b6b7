#include "delivery/application/live.h"

namespace slipway::delivery::application {

void LiveObjects::watch(control::Watches& watches) {
  watches_ = &watches;
  enqueue_ = watches.enqueue();
}

std::string LiveObjects::known_as(const std::string& cluster) const {
  return cluster.empty() || cluster == kHub ? watches_->home() : cluster;
}

void LiveObjects::follow(const std::string& cluster, const kube::Resource& resource) {
  const auto key = std::pair(known_as(cluster), resource);
  if (leases_.contains(key)) return;
  control::InformerLease lease = watches_->lease(key.first, resource, control::Form::Whole);
  if (!lease) return;
  lease.on_change([this](const Value& before, const Value& after) {
    const Value& object = after.is_null() ? before : after;
    const auto name = kube::label(object, kLabelName);
    const auto ns = kube::label(object, kLabelNamespace);
    if (name.empty() || ns.empty()) return;
    const kube::ObjectKey application{std::string(ns), std::string(name)};
    changed_.insert(application);
    enqueue_(application);
  });
  leases_.emplace(key, std::move(lease));
}

Task<Result<Value>> LiveObjects::find(client::Client& client, std::string cluster, workflow::MappedKind kind, std::string ns,
                                      std::string name) {
  follow(cluster, kind.resource);
  const kube::ObjectKey key{kind.is_namespaced ? ns : "", name};
  const auto lease = leases_.find({known_as(cluster), kind.resource});
  if (lease != leases_.end() && lease->second->is_synced() && !lease->second->failure()) co_return lease->second->get(key);
  auto found = co_await client::get(client, kind.resource, key);
  if (!found && found.error().reason == Reason::NotFound) co_return Value();
  co_return found;
}

}  // namespace slipway::delivery::application

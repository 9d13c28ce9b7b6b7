#include "control/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"
#include "control/controller_run.h"

namespace slipway::control {

/// What some hundred deliveries under way need: packing what is read again at once costs a third of a delivery's CPU.
constexpr std::size_t kTreeBytes = std::size_t{24} << 20U;

struct Runtime::Impl {
  Impl(Env& environment, Clusters& known) : env(environment), clusters(known), tasks(environment) {
    subscription = clusters.subscribe([this](const std::string& cluster) { cluster_changed(cluster); });
  }

  InformerPool* pool(const std::string& cluster);
  void cluster_changed(const std::string& cluster);
  Caches caches();

  Env& env;
  Clusters& clusters;
  Clusters::Subscription subscription;
  Tasks tasks;
  struct Pool {
    std::shared_ptr<client::Client> client;
    std::unique_ptr<InformerPool> informers;
  };
  std::shared_ptr<client::ObjectPacks> packs = std::make_shared<client::ObjectPacks>(kTreeBytes);
  std::map<std::string, Pool> pools;
  std::vector<std::unique_ptr<ControllerRun>> runs;
  bool is_started = false;
};

Runtime::Runtime(Env& env, Clusters& clusters) : impl_(std::make_unique<Impl>(env, clusters)) {}
Runtime::~Runtime() = default;

/// Null when the cluster is not known. A cluster that came back as another client has a new pool.
InformerPool* Runtime::Impl::pool(const std::string& cluster) {
  auto client = clusters.find(cluster);
  if (client == nullptr) return nullptr;
  Pool& pool = pools[cluster];
  if (pool.informers == nullptr || pool.client != client) {
    pool.client = client;
    const bool is_in_process = clusters.is_in_process(cluster);
    pool.informers = std::make_unique<InformerPool>(env, std::move(client), tasks, is_in_process ? nullptr : packs);
    if (is_started) pool.informers->start();
  }
  return pool.informers.get();
}

/// The caches of a cluster that went stop; whoever holds leases of them sees their last state.
void Runtime::Impl::cluster_changed(const std::string& cluster) {
  const auto found = pools.find(cluster);
  if (found != pools.end() && clusters.find(cluster) != found->second.client) pools.erase(found);
}

Caches Runtime::Impl::caches() {
  return [this](const std::string& cluster) { return pool(cluster); };
}

void Runtime::add(const std::string& home, std::unique_ptr<Controller> controller) {
  SLIPWAY_CHECK(impl_->pool(home) != nullptr, fmt::format("the home of a controller is not known: {}", home));
  impl_->runs.push_back(
      std::make_unique<ControllerRun>(impl_->env, impl_->clusters, impl_->tasks, impl_->caches(), home, std::move(controller)));
  if (impl_->is_started) impl_->runs.back()->start();
}

InformerLease Runtime::lease(const std::string& cluster, const Resource& resource, Form form) {
  InformerPool* pool = impl_->pool(cluster);
  return pool == nullptr ? InformerLease() : pool->take(resource, form);
}

void Runtime::start() {
  SLIPWAY_CHECK(!impl_->is_started);
  impl_->is_started = true;
  for (auto& [cluster, pool] : impl_->pools) pool.informers->start();
  for (auto& run : impl_->runs) run->start();
}

Task<> Runtime::wait_synced() {
  std::vector<std::string> names;
  for (const auto& [cluster, pool] : impl_->pools) names.push_back(cluster);
  for (const std::string& name : names) {
    const auto found = impl_->pools.find(name);
    if (found != impl_->pools.end()) co_await found->second.informers->wait_synced();
  }
}

bool Runtime::is_idle() const {
  return std::ranges::all_of(impl_->runs, [](const auto& run) { return run->is_idle(); });
}

std::vector<Hindrance> Runtime::hindrances() const {
  std::vector<Hindrance> all;
  for (const auto& run : impl_->runs) run->add_hindrances(all);
  std::ranges::sort(all, {}, [](const Hindrance& each) { return std::tie(each.since, each.controller, each.subject); });
  return all;
}

std::string Hindrance::to_string() const {
  const std::string at = cluster.empty() ? "" : " in cluster " + cluster;
  const std::string why = message.empty() ? ": no answer yet" : ": " + message;
  switch (kind) {
    case Kind::CacheNotSynced:
      return fmt::format("controller {} waits for {}{}{}", controller, subject, at, why);
    case Kind::CacheFails:
      return fmt::format("controller {} sees no changes of {}{}{}", controller, subject, at, why);
    case Kind::ReconcileOverdue:
      return fmt::format("controller {} is still busy with {}{}", controller, subject, at);
    case Kind::WriteNotSeen:
      return fmt::format("controller {} puts {} off{}: a cache does not show its last write", controller, subject, at);
  }
  return {};
}

}  // namespace slipway::control

#include "plane/plane.h"

#include "cluster/clone_set_facts.h"
#include "cluster/cluster.h"
#include "delivery/package/sync.h"
#include "fleet/cluster_kinds.h"
#include "flux/author.h"
#include "flux/flux.h"
#include "kube/well_known.h"

namespace slipway::plane {
namespace {

constexpr const char* kManager = "slipway-bootstrap";
using kube::kDefinitions;

/// By the ordinary path of custom resources; an apply that changes nothing writes nothing.
Task<Result<void>> apply_definitions(server::Server& server, std::vector<json::Value> definitions) {
  for (json::Value& definition : definitions) {
    const auto applied = co_await client::apply(server, kDefinitions, std::move(definition), kManager);
    if (!applied) co_return fail(applied.error());
  }
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> install_definitions(Env& env, client::Client& client, Families of) {
  for (json::Value& definition : custom_resource_definitions(of)) {
    const kube::ObjectKey key{"", std::string(kube::name(definition))};
    SLIPWAY_CO_TRY(applied, co_await client::apply(client, kDefinitions, std::move(definition), kManager));
    json::Value seen = std::move(applied);
    while (!kube::is_true(seen, "Established")) {
      co_await sleep_for(env, std::chrono::milliseconds{100});
      SLIPWAY_CO_TRY(again, co_await client::get(client, kDefinitions, key));
      seen = std::move(again);
    }
  }
  co_return Result<void>{};
}

Task<Result<std::unique_ptr<ApiServer>>> ApiServer::open(Env& env, Options options) {
  SLIPWAY_CO_TRY(opened, store::Store::open(env, options.store));
  std::unique_ptr<ApiServer> api(new ApiServer);
  api->store_ = std::move(opened);
  options.server.admission = admission_rows(options.families, options.on_fault, options.family_options);
  std::ranges::move(flux::author_rows(), std::back_inserter(options.server.admission));
  if (options.simulates_flux) std::ranges::move(flux::status_rows(), std::back_inserter(options.server.admission));
  options.server.answered = answered_kinds(options.families);
  options.server.unserved = unserved_versions(options.families);
  for (client::AnsweredKind& kind : fleet::cluster_kinds()) options.server.answered.push_back(std::move(kind));
  options.server.own_groups = own_groups(options.families);
  options.server.own_groups.emplace_back(cluster::kKruiseGroup);
  options.server.guarded_groups = guarded_groups(options.families);
  options.server.writes_bootstrap = options.writes_bootstrap;
  api->server_ = std::make_unique<server::Server>(env, *api->store_, std::move(options.server));
  SLIPWAY_CO_TRY_VOID(co_await api->server_->start());
  if (options.writes_bootstrap) {
    SLIPWAY_CO_TRY_VOID(co_await apply_definitions(*api->server_, custom_resource_definitions(options.families)));
    SLIPWAY_CO_TRY_VOID(co_await apply_definitions(*api->server_, cluster::cluster_definitions()));
    if (options.simulates_flux) SLIPWAY_CO_TRY_VOID(co_await apply_definitions(*api->server_, flux::definitions()));
    if (options.has_root_sync) {
      SLIPWAY_CO_TRY_VOID(co_await apply_definitions(*api->server_, {delivery::package::sync_definition()}));
    }
  }
  co_return api;
}

Task<> ApiServer::close() { co_await store_->close(); }

cluster::PodRuntime* Controllers::Pods::any() const {
  if (processes) return processes.get();
  return simulated.get();
}

Controllers::Controllers(Env& env, fleet::RemoteFactory remote)
    : env_(env), fleet_(env, std::move(remote)), runtime_(env, fleet_) {}

Controllers::Controllers(Env& env, client::Client& client, Options options, fleet::RemoteFactory remote)
    : Controllers(env, std::move(remote)) {
  add(kLocal, client, std::move(options));
}

Controllers::~Controllers() = default;

void Controllers::start() {
  is_started_ = true;
  runtime_.start();
  for (const auto& secrets : secrets_) secrets->start();
}

void Controllers::add(const std::string& cluster, client::Client& client, Options options) {
  fleet_.add(cluster, client);
  add_controllers(cluster, client, std::move(options));
}

void Controllers::add_remote(const std::string& cluster, std::shared_ptr<client::Client> client, Options options) {
  fleet_.add_remote(cluster, std::move(client));
  add_controllers(cluster, *fleet_.find(cluster), std::move(options));
}

void Controllers::add_controllers(const std::string& cluster, client::Client& client, Options options) {
  Pods& pods = pods_[cluster];
  if (options.pods == PodRuntimeKind::Simulated) pods.simulated = std::make_unique<cluster::SimulatedRuntime>(env_);
  if (options.pods == PodRuntimeKind::Process) {
    cluster::ProcessRuntime::Options process;
    process.data_folder = options.data_dir;
    process.supervisor = options.supervisor;
    process.user = options.user;
    process.http = options.http;
    process.dial = options.dial;
    pods.processes = std::make_unique<cluster::ProcessRuntime>(env_, client, addresses_, std::move(process));
  }
  const bool is_first = secrets_.empty();
  secrets_.push_back(std::make_unique<fleet::ClusterSecrets>(env_, fleet_, fleet_.find(cluster), is_first));
  if (is_started_) secrets_.back()->start();
  if (options.makes_cluster) cluster::add_cluster_controllers(env_, runtime_, cluster, {pods.any()});
  if (options.simulates_flux) flux::add_controllers(env_, runtime_, cluster, options.acts_as);
  if (options.has_root_sync) runtime_.add(cluster, std::make_unique<delivery::package::SyncController>(env_));
  for (const delivery::Family* family : options.families) {
    if (!family->controllers) continue;
    for (auto& controller : family->controllers({.env = env_,
                                                 .http = options.http,
                                                 .clusters = &fleet_,
                                                 .acts_as = options.acts_as,
                                                 .keeps_definitions = options.keeps_definitions,
                                                 .options = options.family_options}))
      runtime_.add(cluster, std::move(controller));
  }
}

std::vector<std::string> Controllers::hindrances(const std::string& cluster) const {
  std::vector<std::string> told;
  for (const control::Hindrance& each : runtime_.hindrances()) {
    if (each.cluster == cluster && each.kind == control::Hindrance::Kind::CacheNotSynced) told.push_back(each.to_string());
  }
  return told;
}

server::PodBackend* Controllers::logs(const std::string& cluster) {
  const auto found = pods_.find(cluster);
  return found == pods_.end() ? nullptr : found->second.processes.get();
}

server::PodBackend* Controllers::pods(const std::string& cluster) {
  const auto found = pods_.find(cluster);
  if (found == pods_.end()) return nullptr;
  if (found->second.processes) return found->second.processes.get();
  return found->second.simulated.get();
}

Task<> Controllers::stop_pods(Duration grace) {
  for (auto& [cluster, pods] : pods_) {
    if (pods.processes) co_await pods.processes->stop_all(grace);
  }
}

}  // namespace slipway::plane

#include "cli/porch_listener.h"

#include <fmt/format.h>

#include "cli/session.h"
#include "delivery/package/kind.h"
#include "kube/well_known.h"
#include "plane/families.h"
#include "serve/credentials.h"

namespace slipway::cli {
namespace {

using delivery::package::kRevisions;

constexpr const char* kPorchManager = "slipway-controller";

/// As it is; null when there is none.
Task<Result<json::Value>> find(client::Client& cluster, kube::Resource resource, kube::ObjectKey key) {
  auto found = co_await client::get(cluster, std::move(resource), std::move(key));
  if (!found && found.error().reason == Reason::NotFound) co_return json::Value();
  co_return found;
}

/// Conflict when somebody else answers for the group there.
Task<Result<void>> require_free(client::Client& cluster, serve::ApiServiceTarget target) {
  SLIPWAY_CO_TRY(there, co_await find(cluster, serve::kApiServices, {"", target.name()}));
  SLIPWAY_CO_TRY_VOID(serve::check_owner(there, target));
  if (!there.is_null() || !co_await client::list(cluster, kRevisions, {"default", "", ""})) co_return Result<void>{};
  co_return fail(Reason::Conflict,
                 fmt::format("the cluster itself serves {}, as `slipway up` does: it needs no listener", target.group));
}

std::vector<client::AnsweredKind> served_kinds() {
  std::vector<client::AnsweredKind> kinds = plane::answered_kinds();
  std::erase_if(kinds, [](const client::AnsweredKind& kind) { return kind.type.resource.group != kRevisions.group; });
  return kinds;
}

}  // namespace

Task<Result<std::unique_ptr<PorchListener>>> PorchListener::open(Env& env, client::Client& cluster, Options options) {
  serve::ApiServiceTarget target{.group = kRevisions.group, .version = kRevisions.version};
  if (!options.service.empty()) SLIPWAY_CO_TRY_VOID(serve::read_service(target, "--porch-service", options.service));
  SLIPWAY_CO_TRY_VOID(co_await require_free(cluster, target));
  SLIPWAY_CO_TRY(config, co_await find(cluster, kube::kConfigMaps, serve::kFrontProxyConfig));
  SLIPWAY_CO_TRY(proxy, serve::read_front_proxy(config));

  std::unique_ptr<PorchListener> made(new PorchListener);
  SLIPWAY_CO_TRY_VOID(env.files.make_folders(options.folder));
  SLIPWAY_CO_TRY(store, store::Store::open(env, {.path = options.folder + "/porch.db"}));
  make_private(options.folder + "/porch.db");
  made->store_ = std::move(store);
  server::Options serving;
  serving.answered = served_kinds();
  serving.behind = &cluster;
  serving.writes_bootstrap = false;
  made->server_ = std::make_unique<server::Server>(env, *made->store_, std::move(serving));
  SLIPWAY_CO_TRY_VOID(made->listen(env, options, target, proxy));
  made->aggregated_ = std::make_unique<serve::Aggregated>(env, *made->server_, cluster, proxy, target.group);
  if (!target.service_name.empty()) {
    target.authority_pem = made->authority_pem_;
    SLIPWAY_CO_TRY_VOID(co_await client::apply(cluster, serve::kApiServices, serve::api_service(target), kPorchManager));
  }
  co_return made;
}

Result<void> PorchListener::listen(Env& env, const Options& options, const serve::ApiServiceTarget& target,
                                   const serve::FrontProxy& proxy) {
  SLIPWAY_TRY(address, listen_address("--porch-listen", options.listen));
  address_ = address;
  std::vector<std::string> names;
  if (!address.is_any() && !address.is_loopback()) names.push_back(address.host);
  if (!target.service_name.empty()) names.push_back(fmt::format("{}.{}.svc", target.service_name, target.service_ns));
  SLIPWAY_TRY(credentials, serve::open_credentials(env, options.folder + "/pki", names));
  authority_pem_ = credentials.authority_pem;
  SLIPWAY_TRY(tls, net::TlsContext::server({.certificate_pem = credentials.server.certificate_pem,
                                            .key_pem = credentials.server.key_pem,
                                            .client_authority_pem = proxy.authority_pem}));
  net::ServerOptions serving;
  serving.address = address.host;
  serving.port = address.port;
  serving.tls = std::move(tls);
  SLIPWAY_TRY(http, net::HttpServer::listen(env, std::move(serving)));
  http_ = std::move(http);
  return {};
}

Task<> PorchListener::run() {
  return http_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
    return aggregated_->answer(std::move(request), std::move(connection));
  });
}

std::string PorchListener::url() const { return fmt::format("https://{}:{}", address_.url_host(), http_->port()); }

}  // namespace slipway::cli

#include "server/server.h"

#include <array>

#include "kube/builtin.h"
#include "server/crd.h"
#include "server/registry.h"
#include "server/verbs.h"

namespace slipway::server {

namespace {

constexpr std::array<std::string_view, 4> kBootstrapNamespaces{"default", "kube-system", "kube-public", "kube-node-lease"};

}  // namespace

Server::Server(Env& env, store::Store& store, Options options)
    : env_(env), store_(store), options_(std::move(options)), registry_(std::make_unique<Registry>()) {
  for (const kube::ResourceType& type : kube::builtin_types()) registry_->put(type);
  verbs_ = std::make_unique<Verbs>(env_, store_, options_, *registry_, *this);
}

Server::~Server() = default;

Task<Result<void>> Server::start() {
  verbs_->load_definitions();
  if (!options_.writes_bootstrap) co_return Result<void>{};
  const kube::Resource namespaces{"", "v1", "namespaces"};
  for (const std::string_view name : kBootstrapNamespaces) {
    json::Value object =
        json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", name}})}});
    auto made = co_await client::create(*this, namespaces, std::move(object), "slipway-server");
    if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  }
  co_return Result<void>{};
}

Task<Result<client::Reply>> Server::call(client::Request request) { return verbs_->call(std::move(request)); }

Task<Result<std::unique_ptr<client::Watch>>> Server::watch(client::Request request) {
  return verbs_->watch(std::move(request));
}

}  // namespace slipway::server

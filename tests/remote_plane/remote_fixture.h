// A cluster that this process serves over HTTP and TLS, for tests of what runs against one elsewhere.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <functional>

#include "base/check.h"
#include "cluster/cluster.h"
#include "cluster/simulated_runtime.h"
#include "os/real_env.h"
#include "os/test_folder.h"
#include "plane/plane.h"
#include "remote/remote_client.h"
#include "serve/access.h"
#include "serve/credentials.h"
#include "serve/gateway.h"
#include "store/memory_vfs.h"

namespace slipway::remote {

using namespace std::chrono_literals;

class RemoteTest : public testing::Test {
 protected:
  /// Serves a cluster (with the controllers that make it one, but not those of the families) while `body` runs.
  void serve(std::function<Task<>()> body) {
    env().vfs = vfs_.vfs();
    boost::asio::co_spawn(env().executor, all(std::move(body)), [&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      real_.stop();
    });
    real_.run();
    real_.shut();
    remote_controllers_.reset();
    runtime_.reset();
  }

  Env& env() { return real_.env(); }

  std::string kubeconfig() const {
    return serve::kubeconfig(credentials_, {{"only", fmt::format("https://127.0.0.1:{}", http_->port())}});
  }

  std::shared_ptr<RemoteClient> connect(const std::string& impersonated_user = "") {
    auto connection = read_kubeconfig(env().files, kubeconfig(), folder_ / "", "");
    SLIPWAY_CHECK(connection.has_value(), connection ? "" : connection.error().message);
    connection->impersonated_user = impersonated_user;
    auto client = std::make_shared<RemoteClient>(env(), *connection, CredentialSource::Options{},
                                                 RemoteClient::over_sockets(env(), *connection));
    clients_.push_back(client);
    return client;
  }

  void listen() {
    credentials_ = *serve::open_credentials(env(), folder_ / "pki", {});
    net::ServerOptions options;
    options.tls = *net::TlsContext::server({.certificate_pem = credentials_.server.certificate_pem,
                                            .key_pem = credentials_.server.key_pem,
                                            .client_authority_pem = credentials_.authority_pem});
    http_ = std::move(*net::HttpServer::listen(env(), std::move(options)));
  }

  Task<> all(std::function<Task<>()> body) {
    plane::ApiServer::Options options;
    options.store.path = "/data/cluster.db";
    options.writes_bootstrap = true;
    options.families = families_;
    if (has_access_) options.server.access = *serve::open_access(env(), folder_ / "", folder_ / "");
    auto opened = co_await plane::ApiServer::open(env(), options);
    SLIPWAY_CHECK(opened.has_value(), opened ? "" : opened.error().message);
    api_ = std::move(*opened);
    gateway_ = std::make_unique<serve::Gateway>(env());
    gateway_->add("", std::make_shared<serve::Api>(env(), api_->server(), serve::ApiOptions{}));
    listen();
    pods_ = std::make_unique<cluster::SimulatedRuntime>(env());
    if (!has_cluster_controllers_) co_return co_await answer_while(std::move(body));
    clusters_ = std::make_unique<control::OneCluster>("served", api_->server());
    runtime_ = std::make_unique<control::Runtime>(env(), *clusters_);
    cluster::add_cluster_controllers(env(), *runtime_, "served", {pods_.get()});
    runtime_->start();
    co_await answer_while(std::move(body));
  }

  Task<> answer_while(std::function<Task<>()> body) {
    Tasks tasks(env());
    tasks.spawn(http_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
      return gateway_->answer(std::move(request), std::move(connection));
    }));
    co_await body();
    http_->stop(1s);
    co_await tasks.join();
    co_await api_->close();
  }

  plane::Families families_ = plane::families();  // of the served cluster
  bool has_access_ = false;                       // RBAC is on
  bool has_cluster_controllers_ = true;           // the served cluster has controllers already
  // What uses the Env goes before it.
  os::TestFolder folder_;
  store::MemoryVfs vfs_;
  os::RealEnv real_{{.log_level = LogLevel::Error}};
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<serve::Gateway> gateway_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<cluster::PodRuntime> pods_;
  std::unique_ptr<control::OneCluster> clusters_;
  std::unique_ptr<control::Runtime> runtime_;
  std::vector<std::shared_ptr<RemoteClient>> clients_;
  std::unique_ptr<plane::Controllers> remote_controllers_;
  serve::Credentials credentials_;
};

}  // namespace slipway::remote

// The controllers of the own families over HTTP and TLS, against a cluster that another "process" of this one serves, as
// `slipway controller --kubeconfig` runs them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <functional>

#include "base/check.h"
#include "cluster/cluster.h"
#include "cluster/simulated_runtime.h"
#include "control/leader_election.h"
#include "json/text.h"
#include "os/real_env.h"
#include "os/test_folder.h"
#include "plane/plane.h"
#include "remote/remote_client.h"
#include "serve/credentials.h"
#include "serve/gateway.h"
#include "store/memory_vfs.h"

namespace slipway::remote {
namespace {

using namespace std::chrono_literals;

const kube::Resource kWorkflows{"batch.slipway.dev", "v1alpha1", "workflows"};

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

  std::shared_ptr<RemoteClient> connect() {
    const std::string text = serve::kubeconfig(credentials_, {{"only", fmt::format("https://127.0.0.1:{}", http_->port())}});
    auto connection = read_kubeconfig(env().files, text, folder_ / "", "");
    SLIPWAY_CHECK(connection.has_value(), connection ? "" : connection.error().message);
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
    auto opened = co_await plane::ApiServer::open(env(), options);
    SLIPWAY_CHECK(opened.has_value(), opened ? "" : opened.error().message);
    api_ = std::move(*opened);
    gateway_ = std::make_unique<serve::Gateway>(env());
    gateway_->add("", std::make_shared<serve::Api>(env(), api_->server(), serve::ApiOptions{}));
    listen();
    pods_ = std::make_unique<cluster::SimulatedRuntime>(env());
    runtime_ = std::make_unique<control::Runtime>(env(), api_->server());
    cluster::add_cluster_controllers(env(), *runtime_, {pods_.get(), {}});
    runtime_->start();
    Tasks tasks(env());
    tasks.spawn(http_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
      return gateway_->answer(std::move(request), std::move(connection));
    }));
    co_await body();
    http_->stop(1s);
    co_await tasks.join();
    co_await api_->close();
  }

  // What uses the Env goes before it.
  os::TestFolder folder_;
  store::MemoryVfs vfs_;
  os::RealEnv real_{{.log_level = LogLevel::Error}};
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<serve::Gateway> gateway_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<cluster::PodRuntime> pods_;
  std::unique_ptr<control::Runtime> runtime_;
  std::vector<std::shared_ptr<RemoteClient>> clients_;
  std::unique_ptr<plane::Controllers> remote_controllers_;
  serve::Credentials credentials_;
};

/// Where a manifest of examples/release.yaml goes to.
kube::Resource resource_of(std::string_view kind) {
  if (kind == "Workflow") return kWorkflows;
  return {"", "v1", kind == "ConfigMap" ? "configmaps" : "persistentvolumeclaims"};
}

Task<Result<void>> apply_release(Env& env, client::Client& client) {
  SLIPWAY_CO_TRY(text, env.files.read(std::string(SLIPWAY_SOURCE_DIR) + "/examples/release.yaml"));
  SLIPWAY_CO_TRY(documents, json::parse_yaml_all(text));
  const std::vector<json::YamlDocument> all = documents;
  for (const json::YamlDocument& document : all) {
    const kube::Object object = document.value.with_path({"metadata", "namespace"}, "default");
    SLIPWAY_CO_TRY(applied, co_await client::apply(client, resource_of(kube::kind(object)), object, "test"));
    static_cast<void>(applied);
  }
  co_return Result<void>{};
}

/// The Workflow's phase as its conditions say, when it has ended.
Task<std::string> ending(client::Client& client) {
  client::Request request;
  request.resource = kWorkflows;
  request.ns = "default";
  auto watch = co_await client.watch(request);
  if (!watch) co_return watch.error().message;
  for (;;) {
    const auto events = co_await (*watch)->next();
    if (!events) co_return events.error().message;
    if (events->empty()) co_return "the watch ended";
    for (const client::WatchEvent& event : *events) {
      for (const char* type : {"Complete", "Failed"}) {
        if (kube::is_true(event.object, type)) co_return type;
      }
    }
  }
}

TEST_F(RemoteTest, a_remote_controller_delivers_the_release_example) {
  serve([this]() -> Task<> {
    const auto client = connect();
    const auto version = co_await client->get_path("/version");
    EXPECT_TRUE(version) << version.error().message;
    const auto installed = co_await plane::install_definitions(env(), *client);
    EXPECT_TRUE(installed) << installed.error().message;
    plane::Controllers::Options options;
    options.pods = plane::PodRuntimeKind::None;
    options.makes_cluster = false;
    remote_controllers_ = std::make_unique<plane::Controllers>(env(), *client, options);
    remote_controllers_->start();
    const auto user = connect();
    const auto applied = co_await apply_release(env(), *user);
    EXPECT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(co_await ending(*user), "Complete");
  });
}

TEST_F(RemoteTest, a_credential_plugin_is_run_until_its_credential_ends) {
  serve([this]() -> Task<> {
    // Each run counts itself in a file; what it says to people is not taken for its answer.
    const std::string script = R"(echo run >>"$COUNT"; echo 'hello' >&2; test -n "$KUBERNETES_EXEC_INFO" || exit 1
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$(wc -l <"$COUNT")'","expirationTimestamp":"'$EXPIRES'"}}')";
    Connection connection;
    connection.server = "https://127.0.0.1:1";
    connection.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                                 .command = "sh",
                                 .args = {"-c", script},
                                 .env = {"COUNT=" + (folder_ / "count"), "EXPIRES=2001-01-01T00:00:00Z"}};
    CredentialSource::Options options;
    options.environment = {"PATH=/usr/bin:/bin"};
    options.scratch_folder = folder_.path();
    CredentialSource expired(env(), connection, options);
    const auto first = co_await expired.get();
    EXPECT_TRUE(first) << first.error().message;
    EXPECT_EQ(first ? first->token : "", "1");
    const auto second = co_await expired.get();
    EXPECT_EQ(second ? second->token : "", "2");
    connection.exec->env[1] = "EXPIRES=2999-01-01T00:00:00Z";
    CredentialSource lasting(env(), connection, options);
    const auto third = co_await lasting.get();
    const auto again = co_await lasting.get();
    EXPECT_EQ(third ? third->token : "", "3");
    EXPECT_EQ(again ? again->token : "", "3");
    connection.exec->command = "/no/such/plugin";
    CredentialSource missing(env(), connection, options);
    const auto none = co_await missing.get();
    EXPECT_FALSE(none);
    if (!none) EXPECT_EQ(none.error().reason, Reason::Unauthorized) << none.error().message;
  });
}

TEST_F(RemoteTest, one_of_two_controllers_leads_and_the_other_follows_when_it_lets_go) {
  serve([this]() -> Task<> {
    const auto client = connect();
    control::LeaderElection::Options first{.identity = "first", .retry = 100ms};
    control::LeaderElection::Options second{.identity = "second", .retry = 100ms};
    const auto a = std::make_shared<control::LeaderElection>(env(), *client, first);
    const auto b = std::make_shared<control::LeaderElection>(env(), *client, second);
    co_await a->acquire();
    EXPECT_TRUE(a->is_leader());
    co_await a->release();
    co_await b->acquire();
    EXPECT_TRUE(b->is_leader());
    EXPECT_EQ(b->holder(), "second");
  });
}

}  // namespace
}  // namespace slipway::remote

// slipway controller: the controllers of the own families on a cluster that is elsewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/listen.h"
#include "cli/porch_listener.h"
#include "cli/remote_session.h"
#include "control/leader_election.h"
#include "delivery/application/other_leader.h"
#include "delivery/application/taking_over.h"
#include "serve/family_paths.h"

namespace slipway::cli {
namespace {

/// Calls that are being answered get this long.
constexpr Duration kControllerStopGrace = std::chrono::seconds{2};

/// Unlike that of any other process: machine, process and a random part.
std::string identity_of(Env& env) {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}_{}_{}", host, getpid(), uuid(env.random));
}

/// Everything that runs; held by the session until its loop has ended.
struct Process {
  Process(Env& env, std::shared_ptr<remote::RemoteClient> to, control::LeaderElection::Options options)
      : client(std::move(to)), election(env, *client, std::move(options)), tasks(env), ended(env) {}

  std::shared_ptr<remote::RemoteClient> client;
  control::LeaderElection election;
  std::unique_ptr<plane::Controllers> controllers;
  std::shared_ptr<plane::Controllers*> shown;  // to the election, for its note
  std::unique_ptr<net::HttpServer> webhooks;
  std::unique_ptr<serve::FamilyPaths> paths;
  std::unique_ptr<PorchListener> porch;
  Tasks tasks;
  Signal ended;
  bool has_lost = false;
};

Task<> lead(Session& session, std::shared_ptr<Process> process, bool makes_cluster,
            std::map<std::string, std::string> family_options) {
  Env& env = session.env();
  co_await process->election.acquire();
  fmt::print("leading: {}\n", process->election.holder());
  std::fflush(stdout);
  plane::Controllers::Options options;
  options.pods = makes_cluster ? plane::PodRuntimeKind::Simulated : plane::PodRuntimeKind::None;
  options.makes_cluster = makes_cluster;
  options.acts_as = delivery::ActsAs::Controller;  // nothing stands in that cluster's admission
  options.http = session.http();
  options.family_options = std::move(family_options);
  process->controllers = std::make_unique<plane::Controllers>(env, remote_factory(env));
  process->controllers->add_remote(plane::Controllers::kLocal, process->client, options);
  process->controllers->start();
  process->tasks.spawn(let_go_of_start(env));
  *process->shown = process->controllers.get();
  co_await process->election.hold();
  process->has_lost = true;
  process->ended.notify();
}

/// Waits until no controller of KubeVela's leads in the cluster, and says which one does. False: interrupted.
Task<Result<bool>> wait_for_kubevela(Session& session, client::Client& client) {
  std::string told;
  while (!session.is_interrupted()) {
    SLIPWAY_CO_TRY(leader, co_await delivery::application::kubevela_leader(client, session.env().clock.now()));
    if (leader.empty()) co_return true;
    const std::string who = leader.substr(0, leader.find(" (renewed"));
    if (who != told) {
      fmt::print(
          "waiting: {}. It delivers the same applications: nothing is written until it has ended (scale its "
          "Deployment to 0)\n",
          who);
      std::fflush(stdout);
    }
    told = who;
    co_await sleep_for(session.env(), delivery::application::OtherLeader::kPause);
  }
  co_return false;
}

/// Webhooks are hints and announcements for whoever leads: they are taken whether this process leads or not.
Result<void> open_webhooks(Session& session, Process& process, const std::string& text) {
  if (text.empty()) return {};
  SLIPWAY_TRY(address, listen_address("--webhook-listen", text));
  net::ServerOptions options;
  options.address = address.host;
  options.port = address.port;
  std::vector<client::HttpPath> paths = plane::http_paths();
  options.body_limit = serve::body_limit_of(paths);
  SLIPWAY_TRY(server, net::HttpServer::listen(session.env(), std::move(options)));
  process.webhooks = std::move(server);
  session.refuse_listener(address.host, process.webhooks->port());
  process.paths = std::make_unique<serve::FamilyPaths>(session.env(), *process.client, std::move(paths));
  if (!address.is_loopback()) {
    fmt::print(stderr, "note: webhooks on {}: other machines can connect, without TLS\n", process.webhooks->address());
  }
  fmt::print("webhooks: http://{}:{}\n", address.url_host(), process.webhooks->port());
  std::fflush(stdout);
  return {};
}

Task<> serve_webhooks(std::shared_ptr<Process> process) {
  co_await process->webhooks->run([process](http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
    return process->paths->answer(std::move(request), std::move(connection));
  });
}

/// Revisions are answered by every process, whether it leads or not.
Task<Result<void>> open_porch(Session& session, std::shared_ptr<Process> process, Arguments arguments) {
  if (arguments.porch_listen.empty()) {
    if (arguments.porch_service.empty()) co_return Result<void>{};
    co_return fail(Reason::BadRequest, "--porch-service needs --porch-listen");
  }
  PorchListener::Options options{
      .listen = arguments.porch_listen, .service = arguments.porch_service, .folder = session.data_dir()};
  SLIPWAY_CO_TRY(opened, co_await PorchListener::open(session.env(), *process->client, std::move(options)));
  process->porch = std::move(opened);
  session.refuse_listener(process->porch->host(), process->porch->port());
  if (!process->porch->is_loopback()) {
    fmt::print(stderr, "note: packages on {}: other machines can connect\n", process->porch->url());
  }
  fmt::print("packages: {}\n", process->porch->url());
  std::fflush(stdout);
  co_return Result<void>{};
}

/// Wakes the waiting command when the user interrupts it.
Task<> tell_interrupt(Session& session, std::shared_ptr<Process> process) {
  while (!session.is_interrupted()) co_await session.interrupted().wait();
  process->ended.notify();
}

}  // namespace

Task<int> controller(Session& session, Arguments arguments) {
  Env& env = session.env();
  if (arguments.application_identity == "user") {
    Status status;
    status.reason = Reason::NotImplemented;
    status.message = "--application-identity user needs a webhook that records who writes an application: there is none yet";
    co_return report(status);
  }
  auto connection = connection_of(env.files, arguments);
  if (!connection) co_return report(connection.error());
  const std::string ns = arguments.lease_ns.empty() ? connection->ns : arguments.lease_ns;
  const std::string server = connection->server;
  auto client = connect(session, *connection);
  const auto version = co_await client->get_path("/version");
  if (!version) co_return report(version.error(), server);
  fmt::print("connected to {} ({})\n", server, version->object["gitVersion"].as_string());
  fmt::print("applications act with the rights of this controller: no webhook records who wrote them\n");
  std::fflush(stdout);
  const auto is_free = co_await wait_for_kubevela(session, *client);
  if (!is_free) co_return report(is_free.error(), server);
  if (!*is_free) co_return kDelivered;
  if (const auto installed = co_await plane::install_definitions(env, *client); !installed) co_return report(installed.error());

  control::LeaderElection::Options options;
  options.ns = ns;
  options.identity = identity_of(env);
  const auto controllers = std::make_shared<plane::Controllers*>(nullptr);
  options.note = [controllers] {
    return *controllers == nullptr ? std::string() : fmt::format("{}", fmt::join((*controllers)->hindrances(), "\n"));
  };
  const auto process = std::make_shared<Process>(env, client, options);
  process->shown = controllers;
  session.hold(process);
  if (const auto opened = open_webhooks(session, *process, arguments.webhook_listen); !opened) co_return report(opened.error());
  if (process->webhooks) process->tasks.spawn(serve_webhooks(process));
  if (const auto opened = co_await open_porch(session, process, arguments); !opened) co_return report(opened.error(), server);
  if (process->porch) process->tasks.spawn(process->porch->run());
  process->tasks.spawn(lead(session, process, arguments.cluster_controllers, arguments.controller_options));
  process->tasks.spawn(tell_interrupt(session, process));
  while (!process->has_lost && !session.is_interrupted()) co_await process->ended.wait();
  if (process->has_lost) {
    // The world is dropped with this process: nothing more is written.
    fmt::print(stderr, "slipway: no longer leading: {}\n", process->election.problem());
    co_return kFailed;
  }
  if (process->webhooks) process->webhooks->stop(kControllerStopGrace);
  if (process->porch) process->porch->stop(kControllerStopGrace);
  co_await process->election.release();
  co_return kDelivered;
}

}  // namespace slipway::cli

// `slipway up`: a control plane on the wire, for one embedded cluster or several, until it is interrupted.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "cli/commands.h"
#include "cli/listen.h"
#include "cli/remote_session.h"
#include "control/acting_client.h"
#include "plane/authors.h"
#include "serve/access.h"
#include "serve/credentials.h"
#include "serve/family_paths.h"
#include "serve/gateway.h"

namespace slipway::cli {
namespace {

/// How long a stop takes at most unless --stop-timeout says (by a fault before it was read).
constexpr Duration kStopTimeout = std::chrono::seconds{10};
constexpr const char* kOnlyCluster = "slipway";

/// One cluster of the process. The order of the members is that of their making.
struct Cluster {
  std::string name;    // as in URLs; empty: at the root
  std::string folder;  // cluster.db, pods/, volumes/
  Env* env = nullptr;  // its own, with a commit lane of its own
  std::unique_ptr<plane::ApiServer> server{};
  std::shared_ptr<serve::Api> api{};
};

class Up {
 public:
  Up(Session& session, Arguments arguments)
      : session_(session),
        arguments_(std::move(arguments)),
        controllers_(session.env(), remote_factory(session.env())),
        gateway_(session.env()),
        tasks_(session.env()),
        after_start_(session.env()) {}

  Task<Result<void>> run();

 private:
  Env& env() { return session_.env(); }
  Result<void> name_clusters();
  Task<Result<void>> tell_clusters();
  Task<Result<void>> open(Cluster& cluster);
  Task<Result<void>> settle_authors(const Cluster& cluster);
  Result<void> listen(const ListenAddress& address);
  Result<void> write_kubeconfig(const ListenAddress& address);
  void announce(const ListenAddress& address) const;
  Task<Result<void>> apply_files();
  std::unique_ptr<http::BodyStream> metrics();
  Task<> serve();
  Task<> stop();

  Session& session_;
  Arguments arguments_;
  ListenAddress address_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  plane::Controllers controllers_;  // over the servers of all clusters
  serve::Credentials credentials_;
  std::unique_ptr<net::HttpServer> http_;
  serve::Gateway gateway_;
  const std::vector<client::HttpPath> paths_ = plane::http_paths();
  Tasks tasks_;
  Tasks after_start_;  // not waited for
};

Task<Result<void>> Up::run() {
  SLIPWAY_CO_TRY(address, listen_address("--listen", arguments_.listen));
  address_ = address;
  SLIPWAY_CO_TRY_VOID(name_clusters());
  SLIPWAY_CO_TRY_VOID(listen(address));
  Result<void> opened;
  controllers_.start();
  for (std::size_t i = 0; opened && i < clusters_.size(); ++i) opened = co_await open(*clusters_[i]);
  if (opened) opened = co_await tell_clusters();
  if (opened) opened = write_kubeconfig(address);
  if (opened) {
    tasks_.spawn(serve());
    announce(address);
    after_start_.spawn(let_go_of_start(env()));
    after_start_.spawn(keep_heap_low(env()));
    opened = co_await apply_files();
    if (opened && !session_.is_interrupted()) co_await session_.interrupted().wait();
  }
  co_await stop();
  co_return opened;
}

Result<void> Up::name_clusters() {
  SLIPWAY_TRY(names, settle_clusters(env(), arguments_.data_dir, arguments_.clusters));
  if (names.empty()) {
    clusters_.push_back(std::make_unique<Cluster>(Cluster{.name = "", .folder = arguments_.data_dir}));
  }
  for (const std::string& name : names) {
    clusters_.push_back(
        std::make_unique<Cluster>(Cluster{.name = name, .folder = fmt::format("{}/clusters/{}", arguments_.data_dir, name)}));
  }
  return {};
}

Task<Result<void>> Up::open(Cluster& cluster) {
  cluster.env = &session_.real().open_env();
  SLIPWAY_CO_TRY_VOID(env().files.make_folders(cluster.folder));
  // So that `slipway get --data-dir` works on the folder of one cluster too.
  SLIPWAY_CO_TRY_VOID(write_if_changed(env(), cluster.folder + "/pod-runtime", arguments_.pod_runtime + "\n", 0644));
  plane::ApiServer::Options options;
  options.store.path = cluster.folder + "/cluster.db";
  options.store.pid = getpid();
  SLIPWAY_CO_TRY_VOID(check_database_is_there(env(), cluster.folder));
  if (!env().files.exists(options.store.path)) {  // before the keys: see check_database_is_there()
    SLIPWAY_CO_TRY(made, store::Store::open(*cluster.env, options.store));
    co_await made->close();
    SLIPWAY_CO_TRY_VOID(env().files.write(plane::authors_mark(cluster.folder), "", 0600));
  }
  SLIPWAY_CO_TRY(access, serve::open_access(env(), cluster.folder, arguments_.data_dir));
  options.server.access = std::move(access);
  options.server.authority_pem = credentials_.authority_pem;
  options.server.address = address_.is_any() ? "127.0.0.1" : address_.host;
  options.server.port = http_->port();
  options.on_fault = on_fault_of(arguments_);
  options.family_options = arguments_.controller_options;
  options.server.nodes = arguments_.nodes;
  options.simulates_flux = arguments_.simulates_flux;
  options.has_root_sync = true;
  SLIPWAY_CO_TRY(server, co_await plane::ApiServer::open(*cluster.env, std::move(options)));
  cluster.server = std::move(server);
  SLIPWAY_CO_TRY_VOID(co_await settle_authors(cluster));
  make_private(cluster.folder + "/cluster.db");
  for (const std::string& folder : {arguments_.data_dir, cluster.folder}) chmod((folder + "/tokens.csv").c_str(), 0600);

  plane::Controllers::Options controllers;
  controllers.pods = arguments_.pod_runtime == "process" ? plane::PodRuntimeKind::Process : plane::PodRuntimeKind::Simulated;
  controllers.data_dir = cluster.folder;
  controllers.supervisor = {"/proc/self/exe", "pod-supervisor"};
  if (arguments_.application_identity == "controller") controllers.acts_as = delivery::ActsAs::Controller;
  controllers.user = {.uid = geteuid(), .gid = getegid()};
  controllers.http = session_.http();
  controllers.dial = session_.dial();
  if (arguments_.controllers == "cluster") controllers.families = {};
  controllers.keeps_definitions = true;
  controllers.family_options = arguments_.controller_options;
  controllers.simulates_flux = arguments_.simulates_flux;
  controllers.has_root_sync = true;
  const std::string known_as = cluster.name.empty() ? plane::Controllers::kLocal : cluster.name;
  controllers_.add(known_as, cluster.server->server(), controllers);

  serve::ApiOptions api;
  api.pods = controllers_.pods(known_as);
  api.root = serve::Gateway::root_of(cluster.name);
  api.paths = paths_;
  api.metrics = [this] { return metrics(); };
  api.hindrances = [this, known_as] { return controllers_.hindrances(known_as); };
  cluster.api = std::make_shared<serve::Api>(*cluster.env, cluster.server->server(), api);
  gateway_.add(cluster.name, cluster.api);
  co_return Result<void>{};
}

Result<void> Up::listen(const ListenAddress& address) {
  std::vector<std::string> names;
  if (!address.is_any() && !address.is_loopback()) names.push_back(address.host);
  SLIPWAY_TRY(credentials, serve::open_credentials(env(), arguments_.data_dir + "/pki", names));
  credentials_ = std::move(credentials);
  SLIPWAY_TRY(tls, net::TlsContext::server({.certificate_pem = credentials_.server.certificate_pem,
                                            .key_pem = credentials_.server.key_pem,
                                            .client_authority_pem = credentials_.authority_pem}));
  net::ServerOptions options;
  options.address = address.host;
  options.port = address.port;
  options.tls = std::move(tls);
  options.body_limit = serve::body_limit_of(paths_);
  SLIPWAY_TRY(http, net::HttpServer::listen(env(), std::move(options)));
  http_ = std::move(http);
  session_.refuse_listener(address_.host, http_->port());
  return {};
}

Result<void> Up::write_kubeconfig(const ListenAddress& address) {
  std::vector<serve::KubeconfigEntry> entries;
  for (const auto& cluster : clusters_) {
    entries.push_back(
        {.name = cluster->name.empty() ? kOnlyCluster : cluster->name,
         .server = fmt::format("https://{}:{}{}", address.url_host(), http_->port(), serve::Gateway::root_of(cluster->name))});
  }
  return write_if_changed(env(), arguments_.data_dir + "/kubeconfig", serve::kubeconfig(credentials_, entries), 0600);
}

void Up::announce(const ListenAddress& address) const {
  if (!address.is_loopback()) {
    fmt::print(stderr, "note: listening on {}: other machines can connect\n", http_->address());
  }
  std::vector<std::string> names;
  for (const auto& cluster : clusters_) names.push_back(cluster->name.empty() ? kOnlyCluster : cluster->name);
  fmt::print("serving {} at https://{}:{}\n", fmt::join(names, ", "), address.url_host(), http_->port());
  fmt::print("kubeconfig: {}/kubeconfig\n", arguments_.data_dir);
  std::fflush(stdout);
}

/// Once for a folder from before authors were recorded, and whenever --adopt-as asks for it.
Task<Result<void>> Up::settle_authors(const Cluster& cluster) {
  const std::string mark = plane::authors_mark(cluster.folder);
  if (env().files.exists(mark) && arguments_.adopt_as.empty()) co_return Result<void>{};
  std::optional<kube::UserInfo> adopter;
  if (!arguments_.adopt_as.empty()) {
    adopter.emplace();
    adopter->name = arguments_.adopt_as;
    adopter->groups = arguments_.adopt_as_groups;
  }
  SLIPWAY_CO_TRY(settled, co_await plane::settle_authors(cluster.server->server(), adopter));
  if (settled > 0) {
    fmt::print(stderr, "note: {} objects were stored without an author: {}\n", settled,
               adopter ? fmt::format("they act as {} from now on", adopter->name)
                       : "each waits (AuthorUnknown); have a user write its spec again, or restart with --adopt-as USER");
  }
  co_return env().files.write(mark, "", 0600);
}

/// The first cluster is the hub of the others: it keeps their labels.
Task<Result<void>> Up::tell_clusters() {
  std::vector<std::string> others;
  for (std::size_t i = 1; i < clusters_.size(); ++i) others.push_back(clusters_[i]->name);
  return fleet::tell_internal_clusters(clusters_.front()->server->server(), std::move(others));
}

/// Of -f, to the first cluster, as the administrator of the kubeconfig: what is written has an author.
Task<Result<void>> Up::apply_files() {
  if (arguments_.files.empty()) co_return Result<void>{};
  SLIPWAY_CO_TRY(manifests, read_manifests(env().files, arguments_.files));
  Site site = site_of(env(), clusters_.front()->server->server());
  site.client = std::make_shared<control::ActingClient>(clusters_.front()->server->server(),
                                                        std::make_shared<const kube::UserInfo>(serve::administrator()));
  SLIPWAY_CO_TRY(applied, co_await apply_all(site, manifests, "default"));
  for (const Delivery& delivery : applied) fmt::print("{}/{} applied\n", delivery.type->singular, delivery.key.name);
  std::fflush(stdout);
  co_return Result<void>{};
}

Task<> Up::serve() {
  return http_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
    return gateway_.answer(std::move(request), std::move(connection));
  });
}

std::unique_ptr<http::BodyStream> Up::metrics() {
  const auto pages = env().files.read("/proc/self/statm");
  std::uint64_t resident = 0;
  if (pages && pages->contains(' ')) {
    std::from_chars(pages->data() + pages->find(' ') + 1, pages->data() + pages->size(), resident);
  }
  Metrics& metrics = env().metrics;
  metrics.gauge("process_resident_memory_bytes", {},
                static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  metrics.gauge("slipway_http_connections", {}, static_cast<double>(http_->connections()));
  for (const auto& cluster : clusters_) {
    if (!cluster->server) continue;
    const std::string_view name = cluster->name.empty() ? std::string_view(kOnlyCluster) : cluster->name;
    metrics.gauge("slipway_store_revision", {{"cluster", name}}, static_cast<double>(cluster->server->store().revision()));
  }
  return session_.real().metrics_stream();
}

/// Nothing new comes in, watches end, pods stop, and what was written becomes durable, in this order. Requests that are being
/// answered get a quarter of the time, pods between SIGTERM and SIGKILL what is left up to three quarters.
Task<> Up::stop() {
  const Duration timeout = session_.stop_timeout().value_or(kStopTimeout);
  const Steady began = env().clock.steady();
  if (http_) http_->stop(timeout / 4);
  co_await tasks_.join();
  const Duration left = began + timeout * 3 / 4 - env().clock.steady();
  co_await controllers_.stop_pods(std::max<Duration>(left, Duration{0}));
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (clusters_[i]->server) co_await clusters_[i]->server->close();
  }
}

}  // namespace

Task<int> up(Session& session, Arguments arguments) {
  // Held by the session: controllers refer to their servers until the loop has ended.
  const auto plane = std::make_shared<Up>(session, std::move(arguments));
  session.hold(plane);
  const auto outcome = co_await plane->run();
  co_return outcome ? kDelivered : report(outcome.error());
}

}  // namespace slipway::cli

// The view of pipelines: a hub and its members are served by this process, over TLS and stores in files; `slipway controller`
// is a process of its own. HelmReleases with a Deployment each stand in the members; nothing works on them. Measured: from the
// start of the controllers until every Pipeline's status says what runs in all its targets, the same after a restart, from a
// change in a member to the status, and the resident memory of the controllers. Sizes by SLIPWAY_BENCH_PIPELINES (20),
// _ENVIRONMENTS (5), _TARGETS (20 per environment), _CLUSTERS (10) and _DEAD (0: of these, how many take connections and never
// say a word); the aims are those of 1,000 pipelines over 200 clusters.
#include <fmt/format.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>

#include "base/digest.h"
#include "bench.h"
#include "controller_process.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "net/server.h"
#include "net/tls.h"
#include "plane_bench.h"
#include "serve/credentials.h"
#include "serve/gateway.h"
#include "stored_copies.h"

namespace slipway::bench {
namespace {

using namespace delivery::pipeline;
using json::Value;

const kube::Resource kHelmReleases{"helm.toolkit.fluxcd.io", "v2", "helmreleases"};
constexpr int kChanges = 100;
constexpr Duration kRest = std::chrono::seconds{5};
/// Longer than connections are kept that nobody uses.
constexpr Duration kIdle = std::chrono::seconds{70};

struct PipelineSizes {
  int pipelines, environments, targets, clusters, dead;
  int all() const { return pipelines * environments * targets; }
};

int size_given(const char* name, int fallback) {
  const char* given = std::getenv(name);
  return given == nullptr ? fallback : std::atoi(given);
}

Value yaml(const std::string& text) {
  auto value = json::parse_yaml(text);
  SLIPWAY_CHECK(value.has_value(), text);
  return *value;
}

Task<> put(client::Client& to, kube::Resource resource, Value object) {
  const Value status = object["status"];
  auto made = co_await client::create(to, resource, object, "bench");
  SLIPWAY_CHECK(made.has_value(), made ? "" : made.error().message);
  if (status.is_null()) co_return;
  auto written = co_await client::update_status(to, resource, made->with("status", status), "bench");
  SLIPWAY_CHECK(written.has_value(), written ? "" : written.error().message);
}

/// Takes connections and never answers.
class DeadServer {
 public:
  DeadServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    SLIPWAY_CHECK(bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(socket_, 1024) == 0);
    SLIPWAY_CHECK(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~DeadServer() { close(socket_); }
  DeadServer(const DeadServer&) = delete;
  DeadServer& operator=(const DeadServer&) = delete;
  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

class PipelineBench {
 public:
  PipelineBench(PlaneBench& hub, const Settings& settings, std::string folder, PipelineSizes sizes)
      : hub_(hub), binary_(settings.slipway), folder_(std::move(folder)), sizes_(sizes), gateway_(hub.env()) {}

  Task<> measure(Figures& figures) {
    listen();
    co_await open_members();
    Tasks serving(hub_.env());
    serving.spawn(http_->run([this](http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
      return gateway_.answer(std::move(request), std::move(connection));
    }));
    co_await rest(figures);
    co_await fill();
    co_await view(figures);
    http_->stop(std::chrono::seconds{1});
    co_await serving.join();
    hub_.env().parking.drop_all();
  }

 private:
  /// The controllers before there is anything to view.
  Task<> rest(Figures& figures) {
    ControllerProcess controllers(binary_, folder_);
    co_await sleep_for(hub_.env(), kRest);
    alone_mb_ = resident_mb(controllers.pid());
    figures["pipelines resident alone"] = {alone_mb_, "MB", "", "of the controllers' process before there is any pipeline"};
    co_await controllers.stop(hub_.env());
  }

  Task<> view(Figures& figures) {
    const std::string scale = fmt::format("{} pipelines, {} targets, {} clusters, {} of them dead; {}", sizes_.pipelines,
                                          sizes_.all(), sizes_.clusters, sizes_.dead, load_note());
    {
      const Instant start = tick();
      ControllerProcess first(binary_, folder_);
      co_await until_viewed();
      figures["pipelines view"] = {seconds_since(start), "s", "<= 20", scale + "; no status before"};
      co_await first.stop(hub_.env());
    }
    for (int p = 0; p < sizes_.pipelines; ++p) co_await attempt(p, target_of(p, 0), "1.0.9");
    const Instant start = tick();
    ControllerProcess controllers(binary_, folder_);
    for (int p = 0; p < sizes_.pipelines; ++p) co_await until_attempted(p, target_of(p, 0), "1.0.9");
    figures["pipelines view after restart"] = {seconds_since(start), "s", "<= 20",
                                               scale + "; a target of each pipeline had changed meanwhile"};
    co_await change(figures);
    const Instant listing = tick();
    const auto list = co_await client::list(hub_.server(), kPipelines, {});
    SLIPWAY_CHECK(list.has_value());
    figures["pipelines list"] = {seconds_since(listing), "s", "<= 1", fmt::format("{} MB", json::print(*list).size() >> 20U)};
    figures["pipelines resident"] = {resident_mb(controllers.pid()), "MB", "", scale + "; of the controllers' process"};
    co_await sleep_for(hub_.env(), kIdle);
    const double resident = resident_mb(controllers.pid());
    figures["pipelines resident at rest"] = {resident, "MB", "", "the same after a minute without changes"};
    figures["pipelines bytes per target"] = {resident * 1024 * 1024 / sizes_.all(), "B", "<= 2048",
                                             "all that is resident in the controllers' process at rest"};
    figures["pipelines bytes added"] = {(resident - alone_mb_) * 1024 * 1024 / sizes_.all(), "B", "",
                                        "per target, without what is resident before there is any pipeline"};
    co_await controllers.stop(hub_.env());
  }

  void listen() {
    credentials_ = *serve::open_credentials(hub_.env(), folder_ + "/pki", {});
    net::ServerOptions options;
    options.tls = *net::TlsContext::server({.certificate_pem = credentials_.server.certificate_pem,
                                            .key_pem = credentials_.server.key_pem,
                                            .client_authority_pem = credentials_.authority_pem});
    http_ = std::move(*net::HttpServer::listen(hub_.env(), std::move(options)));
    gateway_.add("", std::make_shared<serve::Api>(hub_.env(), hub_.server(), serve::ApiOptions{}));
    std::ofstream(folder_ + "/kubeconfig") << kubeconfig("", http_->port());
  }

  std::string kubeconfig(const std::string& cluster, int port) const {
    return serve::kubeconfig(credentials_,
                             {{"c", fmt::format("https://127.0.0.1:{}{}", port, serve::Gateway::root_of(cluster))}});
  }

  bool is_dead(int cluster) const { return cluster >= sizes_.clusters - sizes_.dead; }

  Task<> open_members() {
    for (int i = 0; i < sizes_.clusters; ++i) {
      const std::string name = fmt::format("m{}", i);
      plane::ApiServer::Options options;
      options.store.path = fmt::format("{}/{}.db", folder_, name);
      options.families = {};
      options.simulates_flux = true;
      auto api = co_await plane::ApiServer::open(hub_.env(), std::move(options));
      SLIPWAY_CHECK(api.has_value(), api ? "" : api.error().message);
      members_.push_back(std::move(*api));
      serve::ApiOptions served;
      served.root = serve::Gateway::root_of(name);
      gateway_.add(name, std::make_shared<serve::Api>(hub_.env(), members_.back()->server(), served));
    }
  }

  static std::string ns_of(int pipeline, int environment, int target) {
    return fmt::format("p{}-{}-{}", pipeline, environment, target);
  }
  int member_of(int pipeline, int environment, int target) const {
    return (pipeline * 7 + environment * 31 + target) % sizes_.clusters;
  }

  static Value release(const std::string& ns, const std::string& version) {
    return yaml(fmt::format(R"(
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: app, namespace: {0}}}
spec:
  interval: 1h
  chart: {{spec: {{chart: web, version: {1}, sourceRef: {{kind: HelmRepository, name: web}}}}}}
  values: {{ingress: {{enabled: true, host: app.example.org}}, resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}
status:
  observedGeneration: 1
  lastAttemptedRevision: {1}
  conditions: [{{type: Ready, status: 'True', reason: UpgradeSucceeded, message: Helm upgrade succeeded, observedGeneration: 1}},
    {{type: Released, status: 'True', reason: UpgradeSucceeded, message: Helm upgrade succeeded, observedGeneration: 1}}]
  history: [{{name: app, namespace: {0}, version: 1, status: deployed, chartVersion: {1}, digest: 'sha256:{2}', configDigest: 'sha256:{2}',
    lastDeployed: '2026-01-01T00:00:00Z', firstDeployed: '2026-01-01T00:00:00Z', chartName: web, appVersion: {1}}}]
)",
                            ns, version, sha256_hex(ns)));
  }

  static Value deployment(const std::string& ns, const std::string& version) {
    return yaml(fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app, namespace: {0}, labels: {{helm.sh/chart: web-{1}, helm.toolkit.fluxcd.io/name: app, helm.toolkit.fluxcd.io/namespace: {0}}},
  annotations: {{meta.helm.sh/release-name: app, meta.helm.sh/release-namespace: {0}}}}}
spec: {{replicas: 1, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, image: 'web:{1}'}}]}}}}}}
status: {{observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}}
)",
                            ns, version));
  }

  Task<> fill() {
    for (int i = 0; i < sizes_.clusters; ++i) {
      const std::string config = kubeconfig(fmt::format("m{}", i), is_dead(i) ? dead_.port() : http_->port());
      co_await put(
          hub_.server(), kube::kSecrets,
          yaml(fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: m{}, namespace: default}}, data: {{value: {}}}}}",
                           i, base64_encode(config))));
      Value cluster =
          yaml(fmt::format("{{metadata: {{name: m{0}, namespace: default}}, spec: {{secretRef: {{name: m{0}}}}}}}", i));
      co_await put(hub_.server(), kGitopsClusters,
                   cluster.with("apiVersion", kGitopsClusterKind.api_version()).with("kind", kGitopsClusterKind.kind));
    }
    co_await fill_members();
    for (int p = 0; p < sizes_.pipelines; ++p) co_await fill(p);
  }

  /// The first target is created by requests, the others are copies of it.
  Task<> fill_members() {
    const std::string first = ns_of(0, 0, 0);
    plane::ApiServer& model = *members_[static_cast<std::size_t>(member_of(0, 0, 0))];
    const auto since = model.store().revision();
    co_await put(model.server(), kube::kNamespaces,
                 yaml(fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", first)));
    co_await put(model.server(), kHelmReleases, release(first, "1.0.0"));
    co_await put(model.server(), kube::kDeployments, deployment(first, "1.0.0"));
    const StoredCopies copies = StoredCopies::of(model.store(), since);
    std::vector<std::vector<StoredCopies::Replacements>> by_member(members_.size());
    each_target([&](int p, int e, int t) {
      const std::string ns = ns_of(p, e, t);
      if (ns == first) return;
      by_member[static_cast<std::size_t>(member_of(p, e, t))].push_back({{first, ns}, {sha256_hex(first), sha256_hex(ns)}});
    });
    Tasks writing(hub_.env());
    for (std::size_t i = 0; i < members_.size(); ++i)
      writing.spawn(copies.write(hub_.env(), members_[i]->store(), std::move(by_member[i])));
    co_await writing.join();
  }

  template <class Each>
  void each_target(Each each) const {
    for (int p = 0; p < sizes_.pipelines; ++p) {
      for (int e = 0; e < sizes_.environments; ++e) {
        for (int t = 0; t < sizes_.targets; ++t) each(p, e, t);
      }
    }
  }

  Task<> fill(int p) {
    std::string environments;
    for (int e = 0; e < sizes_.environments; ++e) {
      std::string targets;
      for (int t = 0; t < sizes_.targets; ++t) {
        targets += fmt::format("{{namespace: {}, clusterRef: {{kind: {}, name: m{}}}}},", ns_of(p, e, t),
                               kGitopsClusterKind.kind, member_of(p, e, t));
      }
      environments += fmt::format("{{name: e{}, targets: [{}]}},", e, targets);
    }
    Value pipeline =
        yaml(fmt::format("{{metadata: {{name: p{}, namespace: default}}, spec: {{appRef: {{kind: HelmRelease, name: app}}, "
                         "environments: [{}]}}}}",
                         p, environments));
    co_await put(hub_.server(), kPipelines,
                 pipeline.with("apiVersion", kPipelineKind.api_version()).with("kind", kPipelineKind.kind));
  }

  Task<> until_viewed() {
    int alive = 0;
    each_target([&](int p, int e, int t) { alive += is_dead(member_of(p, e, t)) ? 0 : 1; });
    for (;;) {
      std::int64_t ready = 0;
      const auto list = co_await client::list(hub_.server(), kPipelines, {});
      SLIPWAY_CHECK(list.has_value());
      for (const Value& pipeline : (*list)["items"].items()) {
        for (const auto& [name, environment] : pipeline["status"]["environments"].members())
          ready += environment["readyCount"].as_int();
      }
      if (ready >= alive) co_return;
      co_await sleep_for(hub_.env(), std::chrono::milliseconds{100});
    }
  }

  /// A target of the first environment, the `i`-th of those that answer.
  int target_of(int p, int i) const {
    std::vector<int> alive;
    for (int t = 0; t < sizes_.targets; ++t) {
      if (!is_dead(member_of(p, 0, t))) alive.push_back(t);
    }
    SLIPWAY_CHECK(!alive.empty(), "every target of an environment is dead");
    return alive[static_cast<std::size_t>(i) % alive.size()];
  }

  Task<> attempt(int p, int t, std::string version) {
    client::Client& there = members_[static_cast<std::size_t>(member_of(p, 0, t))]->server();
    const Value patch = json::object({{"status", json::object({{"lastAttemptedRevision", version}})}});
    const auto patched = co_await client::merge_patch(there, kHelmReleases, {ns_of(p, 0, t), "app"}, patch, "bench", "status");
    SLIPWAY_CHECK(patched.has_value(), patched ? "" : patched.error().message);
  }

  Task<> change(Figures& figures) {
    std::vector<double> took;
    for (int i = 0; i < kChanges; ++i) {
      const int p = i % sizes_.pipelines;
      const int t = target_of(p, 1 + i / sizes_.pipelines);
      co_await attempt(p, t, "1.1.0");
      const Instant since = tick();
      co_await until_attempted(p, t, "1.1.0");
      took.push_back(seconds_since(since));
    }
    figures["pipelines change seen p99"] = {percentile(took, 0.99), "s", "<= 2", "from a status in a member to the Pipeline's"};
    figures["pipelines change seen p50"] = {median(took), "s", "", ""};
  }

  Task<> until_attempted(int p, int t, std::string version) {
    const std::string ns = ns_of(p, 0, t);
    for (;;) {
      const auto found = co_await client::get(hub_.server(), kPipelines, {"default", fmt::format("p{}", p)});
      for (const Value& row : (*found)["status"]["environments"]["e0"]["targets"].items()) {
        if (row["namespace"].as_string() == ns && row["attempted"]["version"].as_string() == version) co_return;
      }
      co_await sleep_for(hub_.env(), std::chrono::milliseconds{5});
    }
  }

  PlaneBench& hub_;
  std::string binary_;
  std::string folder_;
  PipelineSizes sizes_;
  double alone_mb_ = 0;
  DeadServer dead_{};
  serve::Credentials credentials_{};
  serve::Gateway gateway_;
  std::unique_ptr<net::HttpServer> http_{};
  std::vector<std::unique_ptr<plane::ApiServer>> members_{};
};

}  // namespace

Figures measure_pipelines(const Settings& settings) {
  Figures figures;
  const PipelineSizes sizes{size_given("SLIPWAY_BENCH_PIPELINES", settings.share_of(20)),
                            size_given("SLIPWAY_BENCH_ENVIRONMENTS", 5),
                            size_given("SLIPWAY_BENCH_TARGETS", settings.share_of(20)),
                            size_given("SLIPWAY_BENCH_CLUSTERS", 10), size_given("SLIPWAY_BENCH_DEAD", 0)};
  const std::string folder = settings.folder + "/pipelines";
  PlaneBench plane(folder);
  auto bench = std::make_unique<PipelineBench>(plane, settings, folder, sizes);
  plane.run([&](PlaneBench&) -> Task<> { co_await bench->measure(figures); });
  return figures;
}

}  // namespace slipway::bench

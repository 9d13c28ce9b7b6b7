// The view of pipelines: a hub and its members in one process, over stores in files. HelmReleases with a Deployment each stand
// in the members; nothing works on them. Measured: from the start of the controllers until every Pipeline's status says what
// runs in all its targets, from a change in a member to the status, and what a target costs in memory. Sizes by
// SLIPWAY_BENCH_PIPELINES (20), _ENVIRONMENTS (5), _TARGETS (20 per environment) and _CLUSTERS (10); the aims are those of
// 1,000 pipelines over 200 clusters.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "base/digest.h"
#include "bench.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "plane_bench.h"

namespace slipway::bench {
namespace {

using namespace delivery::pipeline;
using json::Value;

const kube::Resource kHelmReleases{"helm.toolkit.fluxcd.io", "v2", "helmreleases"};
constexpr int kChanges = 50;

struct Sizes {
  int pipelines, environments, targets, clusters;
  int all() const { return pipelines * environments * targets; }
};

int number(const char* name, int fallback) {
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

class PipelineBench {
 public:
  PipelineBench(PlaneBench& hub, std::string folder, Sizes sizes) : hub_(hub), folder_(std::move(folder)), sizes_(sizes) {}

  Task<> measure(Figures& figures) {
    co_await open_members();
    co_await fill();
    const double before_mb = resident_mb();
    const Instant start = tick();
    plane::Controllers controllers(hub_.env(), [this](const fleet::RemoteCluster& cluster) { return reach(cluster); });
    plane::Controllers::Options options;
    options.pods = plane::PodRuntimeKind::None;
    options.makes_cluster = false;
    controllers.add("hub", hub_.server(), options);
    controllers.start();
    co_await until_viewed();
    const std::string scale =
        fmt::format("{} pipelines, {} targets, {} clusters", sizes_.pipelines, sizes_.all(), sizes_.clusters);
    figures["pipelines view"] = {seconds_since(start), "s", "<= 20", scale + "; no status before"};
    const double bytes = (resident_mb() - before_mb) * 1024 * 1024 / sizes_.all();
    figures["pipelines bytes per target"] = {
        bytes, "B", "<= 2048", "resident; with the hub's store and cache of the statuses, which are in this process"};
    figures["pipelines resident"] = {resident_mb(), "MB", "", scale + "; members included"};
    const Instant listing = tick();
    const auto list = co_await client::list(hub_.server(), kPipelines, {});
    SLIPWAY_CHECK(list.has_value());
    figures["pipelines list"] = {seconds_since(listing), "s", "<= 1", fmt::format("{} MB", json::print(*list).size() >> 20U)};
    co_await change(figures);
    hub_.env().parking.drop_all();
  }

 private:
  Task<> open_members() {
    for (int i = 0; i < sizes_.clusters; ++i) {
      plane::ApiServer::Options options;
      options.store.path = fmt::format("{}/member{}.db", folder_, i);
      options.families = {};
      options.simulates_flux = true;
      auto api = co_await plane::ApiServer::open(hub_.env(), std::move(options));
      SLIPWAY_CHECK(api.has_value(), api ? "" : api.error().message);
      members_.push_back(std::move(*api));
    }
  }

  Result<std::shared_ptr<client::Client>> reach(const fleet::RemoteCluster& cluster) {
    const std::string server = yaml(cluster.kubeconfig)["clusters"].item(0)["cluster"]["server"].str();
    const auto index = static_cast<std::size_t>(std::atoi(server.c_str() + std::string_view("https://m").size()));
    // Shared with nobody, as a client over a wire: values are reduced and kept apart.
    return std::shared_ptr<client::Client>(std::shared_ptr<void>(), &members_.at(index)->server());
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
      const std::string config = fmt::format(
          "current-context: c\nclusters: [{{name: c, cluster: {{server: 'https://m{}'}}}}]\ncontexts: [{{name: c, context: "
          "{{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{token: t}}}}]\n",
          i);
      co_await put(
          hub_.server(), kube::kSecrets,
          yaml(fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: m{}, namespace: default}}, data: {{value: {}}}}}",
                           i, base64_encode(config))));
      Value cluster =
          yaml(fmt::format("{{metadata: {{name: m{0}, namespace: default}}, spec: {{secretRef: {{name: m{0}}}}}}}", i));
      co_await put(hub_.server(), kGitopsClusters,
                   cluster.with("apiVersion", kGitopsClusterKind.api_version()).with("kind", kGitopsClusterKind.kind));
    }
    for (int p = 0; p < sizes_.pipelines; ++p) co_await fill(p);
  }

  Task<> fill(int p) {
    std::string environments;
    for (int e = 0; e < sizes_.environments; ++e) {
      std::string targets;
      for (int t = 0; t < sizes_.targets; ++t) {
        const int member = member_of(p, e, t);
        const std::string ns = ns_of(p, e, t);
        client::Client& there = members_[static_cast<std::size_t>(member)]->server();
        co_await put(there, kube::kNamespaces,
                     yaml(fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", ns)));
        co_await put(there, kHelmReleases, release(ns, "1.0.0"));
        co_await put(there, kube::kDeployments, deployment(ns, "1.0.0"));
        targets += fmt::format("{{namespace: {}, clusterRef: {{kind: {}, name: m{}}}}},", ns, kGitopsClusterKind.kind, member);
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
    for (int p = 0; p < sizes_.pipelines;) {
      const auto found = co_await client::get(hub_.server(), kPipelines, {"default", fmt::format("p{}", p)});
      std::int64_t ready = 0;
      if (found) {
        for (const auto& [name, environment] : (*found)["status"]["environments"].members())
          ready += environment["readyCount"].as_int();
      }
      if (ready == sizes_.environments * sizes_.targets) {
        ++p;
      } else {
        co_await sleep_for(hub_.env(), std::chrono::milliseconds{20});
      }
    }
  }

  Task<> change(Figures& figures) {
    std::vector<double> took;
    for (int i = 0; i < kChanges; ++i) {
      const int p = i % sizes_.pipelines;
      const int t = i / sizes_.pipelines % sizes_.targets;
      const std::string ns = ns_of(p, 0, t);
      client::Client& there = members_[static_cast<std::size_t>(member_of(p, 0, t))]->server();
      const Value patch = json::object({{"status", json::object({{"lastAttemptedRevision", "1.1.0"}})}});
      const auto patched = co_await client::merge_patch(there, kHelmReleases, {ns, "app"}, patch, "bench", "status");
      SLIPWAY_CHECK(patched.has_value(), patched ? "" : patched.error().message);
      const Instant since = tick();
      co_await until_attempted(p, ns);
      took.push_back(seconds_since(since));
    }
    figures["pipelines change seen p99"] = {percentile(took, 0.99), "s", "<= 2", "from a status in a member to the Pipeline's"};
    figures["pipelines change seen p50"] = {median(took), "s", "", ""};
  }

  Task<> until_attempted(int p, std::string ns) {
    for (;;) {
      const auto found = co_await client::get(hub_.server(), kPipelines, {"default", fmt::format("p{}", p)});
      for (const Value& row : (*found)["status"]["environments"]["e0"]["targets"].items()) {
        if (row["namespace"].as_string() == ns && row["attempted"]["version"].as_string() == "1.1.0") co_return;
      }
      co_await sleep_for(hub_.env(), std::chrono::milliseconds{5});
    }
  }

  PlaneBench& hub_;
  std::string folder_;
  Sizes sizes_;
  std::vector<std::unique_ptr<plane::ApiServer>> members_;
};

}  // namespace

Figures measure_pipelines(const Settings& settings) {
  Figures figures;
  const Sizes sizes{number("SLIPWAY_BENCH_PIPELINES", 20), number("SLIPWAY_BENCH_ENVIRONMENTS", 5),
                    number("SLIPWAY_BENCH_TARGETS", 20), number("SLIPWAY_BENCH_CLUSTERS", 10)};
  const std::string folder = settings.folder + "/pipelines";
  PlaneBench plane(folder);
  auto bench = std::make_unique<PipelineBench>(plane, folder, sizes);
  plane.run([&](PlaneBench&) -> Task<> { co_await bench->measure(figures); });
  return figures;
}

}  // namespace slipway::bench

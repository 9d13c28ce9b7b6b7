#include "stories_fixture.h"

#include <fmt/format.h>

#include "base/mac.h"
#include "delivery/pipeline/family.h"

namespace slipway::pipeline_test {

std::string release(const std::string& version, const std::string& name, const std::string& more) {
  return fmt::format(R"(apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: {0}
  namespace: podinfo
  annotations: {{pipelines.weave.works/pipeline: default/{0}}}
spec:
  interval: 1m
  timeout: 1m
  chart: {{spec: {{chart: {0}, version: "{1}", sourceRef: {{kind: HelmRepository, name: {0}}}}}}}
{2})",
                     name, version, more);
}

std::string marker(const std::string& key) { return fmt::format("# {{\"$promotion\": \"{}\"}}", key); }

std::string marked_release(const std::string& environment, const std::string& version, const std::string& more) {
  return fmt::format(R"(apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: podinfo
  namespace: podinfo
spec:
  interval: 1m
  timeout: 1m
  chart:
    spec:
      chart: podinfo
      version: {} {}
      sourceRef: {{kind: HelmRepository, name: podinfo}}
{})",
                     version, marker("default:podinfo:" + environment), more);
}

std::string pipeline_over(const std::vector<EnvironmentText>& environments, const std::string& more, const std::string& name,
                          const std::string& kind) {
  std::string text = fmt::format(
      "apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipeline\nmetadata: {{name: {0}}}\nspec:\n"
      "  appRef: {{kind: {1}, name: {0}}}\n{2}  environments:\n",
      name, kind, more);
  for (const EnvironmentText& one : environments) {
    text += fmt::format("  - name: {}\n{}    targets:\n", one.name, one.more);
    for (const std::string& cluster : one.clusters) {
      text += fmt::format("    - {{namespace: podinfo, clusterRef: {{kind: GitopsCluster, name: {}}}}}\n", cluster);
    }
  }
  return text;
}

std::string by_commit(const std::string& url) {
  return fmt::format("promotion: {{strategy: {{secretRef: {{name: hooks}}, commit: {{url: '{}', baseBranch: main}}}}}}\n", url);
}

void Stories::have(const std::vector<std::string>& members) {
  members_ = members;
  close();
  env_ = std::make_unique<ManualEnv>(ManualEnv::Options{.vfs = disk_.vfs()});
  open();
  join_all();
}

void Stories::join_all() {
  for (const std::string& member : members_) {
    join(member);
    make_namespace(member, "podinfo");
  }
}

void Stories::follow(const std::string& cluster, const std::string& url, const std::string& folder) {
  apply(cluster, fmt::format(R"(
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: config, namespace: {0}}}
spec: {{interval: 10s, url: '{1}', ref: {{branch: main}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: apps, namespace: {0}}}
spec: {{interval: 1m, prune: true, path: ./{2}, sourceRef: {{kind: GitRepository, name: config}}}}
)",
                             cluster == kHub ? "default" : "podinfo", url, folder));
}

void Stories::deliver(Repository& repository, const std::string& more_of_prod,
                      const std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> all = files;
  for (const std::string& member : members_) all.emplace(member + "/podinfo.yaml", marked_release(member, "1.0.0"));
  repository.commit(all, "first");
  join_all();
  for (const std::string& member : members_) follow(member, repository.path(), member);
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"staging", {"staging"}}, {"prod", {"prod"}, more_of_prod}},
                            "  " + by_commit(repository.path())));
  ASSERT_TRUE(until([&] { return line() == "dev 1.0.0 → staging 1.0.0 → prod 1.0.0"; })) << json::print_pretty(status());
}

std::string Stories::promotion(const std::string& name) {
  const Value newest = environment(name)["promotion"];
  if (newest.is_null()) return "";
  return fmt::format("{} {} {}", newest["version"].as_string(), newest["phase"].as_string(), newest["reason"].as_string());
}

std::string Stories::condition(const std::string& type) {
  const Value object = get(kHub, delivery::pipeline::kPipelines, "podinfo");
  const Value& found = kube::condition(object, type);
  return found["status"].str() + " " + found["reason"].str();
}

int Stories::tell(const std::string& name, const std::string& revision, const std::string& key) {
  http::Request request{.method = "POST", .target = "/promotion/default/podinfo/" + name, .headers = {}, .body = {}};
  request.body = fmt::format(
      R"({{"involvedObject": {{"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "podinfo",)"
      R"( "namespace": "podinfo"}}, "severity": "info", "reason": "UpgradeSucceeded", "metadata": {{"revision": "{}"}}}})",
      revision);
  request.headers.add("X-Signature", "sha256=" + hmac_hex(MacHash::Sha256, key, request.body));
  for (const client::HttpPath& path : paths_) {
    if (!path.covers(request.target)) continue;
    const auto answer = env_->run(path.run({env_->env(), client(kHub)}, request, nullptr));
    return answer ? answer->status : http_code(answer.error().reason);
  }
  return 0;
}

std::string Stories::command(const std::string& user, const std::string& verb, const std::vector<std::string>& words,
                             const std::map<std::string, std::string>& options) {
  ClientOf as_user(client(kHub), user, {});
  return run_command(*env_, user.empty() ? client(kHub) : as_user, "default", verb, words, options, http_);
}

}  // namespace slipway::pipeline_test

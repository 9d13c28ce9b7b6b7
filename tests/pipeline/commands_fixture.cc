#include "commands_fixture.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::pipeline_test {
namespace {

const kube::Resource kNamespaces{"", "v1", "namespaces"};
const kube::Resource kRoles{"rbac.authorization.k8s.io", "v1", "roles"};
const kube::Resource kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

constexpr const char* kWebSpec = R"(
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: web, namespace: shop}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web}
  environments:
    - {name: dev, targets: [{namespace: web-dev}]}
    - {name: staging, targets: [{namespace: web-staging}]}
    - {name: prod, targets: [{namespace: web-prod}], gates: [{name: leads, at: before, approval: {count: 2}}]}
)";

std::string environment(const std::string& ns, const std::string& version, const std::string& digest) {
  return fmt::format(
      "{{version: {{version: {1}, digest: '{2}'}}, targetCount: 1, readyCount: 1, states: {{settled: 1}}, versions: {{{1}: "
      "1}}, "
      "targets: [{{clusterAppRef: {{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web}}, namespace: {0}, "
      "ready: "
      "true, revision: {1}, state: settled, running: {{version: {1}, digest: '{2}'}}, images: ['web:{1}']}}]}}",
      ns, version, digest);
}

}  // namespace

void PipelineCommands::SetUp() {
  plane::ApiServer::Options options;
  options.store.path = "/data/cluster.db";
  auto api = env_.run(plane::ApiServer::open(env_, options));
  ASSERT_TRUE(api) << api.error().message;
  api_ = std::move(*api);
  ASSERT_TRUE(apply(kNamespaces, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}", ""));
}

void PipelineCommands::TearDown() {
  env_.drop_all();
  api_.reset();
}

Result<Value> PipelineCommands::apply(const kube::Resource& resource, const std::string& text, const std::string& ns) {
  Value object = yaml(text);
  if (!ns.empty()) object = object.with_path({"metadata", "namespace"}, ns);
  return env_.run(client::create(server(), resource, object, "tester"));
}

Result<Value> PipelineCommands::get(const kube::Resource& resource, const std::string& name, const std::string& ns) {
  return env_.run(client::get(server(), resource, {ns, name}));
}

std::vector<Value> PipelineCommands::list(const kube::Resource& resource, const std::string& ns) {
  const auto found = env_.run(client::list(server(), resource, client::ListQuery{ns, {}, {}}));
  EXPECT_TRUE(found) << found.error().message;
  if (!found) return {};
  return {(*found)["items"].items().begin(), (*found)["items"].items().end()};
}

void PipelineCommands::write_status(const kube::Resource& resource, const std::string& name, const std::string& status) {
  const auto there = get(resource, name);
  ASSERT_TRUE(there) << there.error().message;
  const auto written = env_.run(client::update_status(server(), resource, there->with("status", yaml(status)), "tester"));
  ASSERT_TRUE(written) << written.error().message;
}

void PipelineCommands::grant(const std::string& user, const std::string& resources, const std::string& verbs) {
  const auto role =
      apply(kRoles, fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: {}}}, rules: "
                                "[{{apiGroups: ['*'], resources: [{}], verbs: [{}]}}]}}",
                                user, resources, verbs));
  ASSERT_TRUE(role) << role.error().message;
  const auto bound =
      apply(kRoleBindings,
            fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}}}, roleRef: "
                        "{{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {0}}}, subjects: [{{apiGroup: "
                        "rbac.authorization.k8s.io, kind: User, name: {0}}}]}}",
                        user));
  ASSERT_TRUE(bound) << bound.error().message;
}

void PipelineCommands::bind(const std::string& user, const std::string& role) {
  const auto bound = apply(
      kRoleBindings, fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}-{1}}}, "
                                 "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {1}}}, subjects: "
                                 "[{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {0}}}]}}",
                                 user, role));
  ASSERT_TRUE(bound) << bound.error().message;
}

std::string run_command(ManualEnv& env, client::Client& client, const std::string& ns, const std::string& verb,
                        const std::vector<std::string>& words, const std::map<std::string, std::string>& options,
                        HttpClient* http) {
  for (const delivery::Command& command : pipeline::commands()) {
    if (command.verb != "pipeline " + verb) continue;
    for (const auto& [name, value] : options) {
      EXPECT_NE(std::ranges::find(command.options, name, &delivery::CommandOption::name), command.options.end()) << name;
    }
    delivery::CommandCall call{
        .env = env.env(), .client = &client, .ns = ns, .words = words, .objects = {}, .options = options, .http = http};
    const auto answer = env.run(command.run(std::move(call)));
    if (!answer) return fmt::format("{}: {}", to_string(answer.error().reason), answer.error().message);
    std::string text = answer->text;
    for (const std::string& note : answer->notes) text += fmt::format("({})", note);
    return text;
  }
  return "no such command";
}

std::string PipelineCommands::run(const std::string& user, const std::string& verb, const std::vector<std::string>& words,
                                  const std::map<std::string, std::string>& options) {
  ClientOf as_user(server(), user, {});
  return run_command(env_, user.empty() ? server() : as_user, "shop", verb, words, options);
}

Value PipelineCommands::only(const kube::Resource& resource) {
  const std::vector<Value> all = list(resource);
  EXPECT_EQ(all.size(), 1U) << resource.plural;
  return all.size() == 1 ? all.front() : Value();
}

void PipelineCommands::make_web() {
  const auto made = apply(pipeline::kPipelines, kWebSpec);
  ASSERT_TRUE(made) << made.error().message;
  for (const auto& [name, version, digest] :
       {std::tuple{"web-1", "1.0.0", "sha256:aaaaaaaa"}, {"web-2", "1.1.0", "sha256:bbbbbbbb"}}) {
    const auto release =
        apply(pipeline::kReleases,
              fmt::format("{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Release, metadata: {{name: {0}}}, spec: "
                          "{{pipeline: web, version: {1}, digest: '{2}', images: ['web:{1}'], environment: dev}}}}",
                          name, version, digest));
    ASSERT_TRUE(release) << release.error().message;
  }
  write_status(
      pipeline::kPipelines, "web",
      fmt::format("{{observedGeneration: 1, line: dev 1.1.0 → staging 1.1.0 → prod 1.0.0, conditions: [{{type: Ready, status: "
                  "'True', reason: ReconciliationSucceeded, message: ok, lastTransitionTime: '2026-01-01T00:00:00Z'}}], "
                  "environments: {{dev: {}, staging: {}, prod: {}}}}}",
                  environment("web-dev", "1.1.0", "sha256:bbbbbbbb"), environment("web-staging", "1.1.0", "sha256:bbbbbbbb"),
                  environment("web-prod", "1.0.0", "sha256:aaaaaaaa")));
}

}  // namespace slipway::pipeline_test

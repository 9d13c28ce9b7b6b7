// Promises of the pipelines RFC (seed 004) that no other test shows; promises.tsv lists them all.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../pipeline/stories_fixture.h"

namespace slipway::pipeline_test {
namespace {

using namespace delivery::pipeline;

std::string printed(const std::string& file) {
  std::ifstream in(std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests/seed004" / file);
  EXPECT_TRUE(in) << file;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class Seed004 : public Stories {
 protected:
  /// An answer of the hub to a user of no groups: "", or the message of the refusal.
  std::string ask(const std::string& user, client::Verb verb, const kube::Resource& resource, const Value& body) {
    client::Request request;
    request.verb = verb;
    request.resource = resource;
    request.ns = kube::ns(body).empty() ? "default" : std::string(kube::ns(body));
    request.name = verb == client::Verb::Create ? "" : std::string(kube::name(body));
    if (verb != client::Verb::Delete) request.body = body;
    request.user = std::make_shared<const kube::UserInfo>(
        kube::UserInfo{.name = user, .uid = "", .groups = {"system:authenticated"}, .extra = {}});
    const auto reply = env_->run(client(kHub).call(std::move(request)));
    return reply ? "" : reply.error().message;
  }
  /// The RoleBinding that gives a user all verbs on a resource in a namespace of the hub.
  void grant(const std::string& user, const std::string& group, const std::string& resource, const std::string& ns,
             const std::string& verbs = "'*'") {
    apply(kHub, fmt::format(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: {0}, namespace: {3}}}
rules: [{{apiGroups: ["{1}"], resources: ["{2}"], verbs: [{4}]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: {0}, namespace: {3}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {0}}}
subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {0}}}]
)",
                            user, group, resource, ns, verbs));
  }
};

const kube::Resource kReleases{"helm.toolkit.fluxcd.io", "v2", "helmreleases"};

TEST_F(Seed004, the_manifests_as_printed_are_accepted_and_followed) {
  have({"dev", "prod", "dev-us", "dev-eu"});
  for (const char* member : {"dev", "dev-us", "dev-eu"}) apply(member, release("6.1.6"));
  apply("prod", release("6.1.5"));
  apply(kHub, printed("story-1.yaml"));
  EXPECT_TRUE(until([&] { return line() == "dev 6.1.6 → prod 6.1.5"; })) << json::print_pretty(status());
  EXPECT_EQ(get(kHub, kPipelines, "podinfo")["spec"], yaml(printed("story-1.yaml"))["spec"]);
  apply(kHub, printed("story-4.yaml"));
  EXPECT_TRUE(until([&] { return environment("dev")["targets"].size() == 2 && version("dev") == "6.1.6"; }))
      << json::print_pretty(status());
  apply("dev-eu", release("6.2.0"));
  EXPECT_TRUE(until([&] { return environment("dev")["versions"] == json::object({{"6.1.6", 1}, {"6.2.0", 1}}); }))
      << json::print_pretty(status());
}

TEST_F(Seed004, a_pipeline_has_one_environment_or_many_with_one_target_or_many) {
  have({"dev", "staging", "prod"});
  for (const std::string& member : members_) apply(member, release("1.0.0"));
  apply(kHub, pipeline_over({{"only", {"prod"}}}));
  EXPECT_TRUE(until([&] { return line() == "only 1.0.0"; })) << line();
  apply(kHub, pipeline_over({{"first", {"dev", "staging"}}, {"last", {"prod"}}}));
  EXPECT_TRUE(until([&] { return line() == "first 1.0.0 → last 1.0.0"; })) << line();
}

TEST_F(Seed004, the_line_is_in_the_order_of_the_list) {
  have({"dev", "staging", "prod"});
  for (const std::string& member : members_) apply(member, release("1.0.0"));
  apply(kHub, pipeline_over({{"zeta", {"dev"}}, {"alpha", {"staging"}}, {"mid", {"prod"}}}));
  EXPECT_TRUE(until([&] { return line() == "zeta 1.0.0 → alpha 1.0.0 → mid 1.0.0"; })) << line();
  apply(kHub, pipeline_over({{"mid", {"prod"}}, {"zeta", {"dev"}}, {"alpha", {"staging"}}}));
  EXPECT_TRUE(until([&] { return line() == "mid 1.0.0 → zeta 1.0.0 → alpha 1.0.0"; })) << line();
}

TEST_F(Seed004, only_the_named_object_in_the_targets_namespace_counts) {
  have({"dev", "prod"});
  make_namespace("dev", "elsewhere");
  std::string stray = release("9.9.9");
  stray.replace(stray.find("namespace: podinfo"), 18, "namespace: elsewhere");
  apply("dev", stray);
  apply("dev", release("8.8.8", "other"));
  apply("prod", release("1.0.0"));
  apply(kHub, pipeline_over({{"dev", {"dev"}}, {"prod", {"prod"}}}));
  ASSERT_TRUE(until([&] { return version("prod") == "1.0.0"; })) << json::print_pretty(status());
  advance(minutes{2});
  EXPECT_EQ(version("dev"), "") << "neither a namesake elsewhere nor a neighbour, whatever their annotations say";
  EXPECT_EQ(target("dev")["error"].as_string(), "there is no HelmRelease podinfo/podinfo");
}

TEST_F(Seed004, one_role_defines_pipelines_and_another_deploys_into_them) {
  make_namespace(kHub, "podinfo");
  grant("ops", "pipelines.weave.works", "pipelines", "default");
  grant("ops", "helm.toolkit.fluxcd.io", "helmreleases", "podinfo",
        "get");  // a status shows what the pipeline's author may see
  grant("dev-team", "helm.toolkit.fluxcd.io", "helmreleases", "podinfo");
  // The simulated Flux installs as who wrote the release.
  apply(kHub, R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: install, namespace: podinfo}
rules:
- {apiGroups: [source.toolkit.fluxcd.io], resources: [helmcharts], verbs: ["*"]}
- {apiGroups: [apps], resources: [deployments], verbs: ["*"]}
- {apiGroups: [""], resources: [secrets], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: install, namespace: podinfo}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: install}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: dev-team}]
)");
  const Value pipeline = yaml(
      "{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: podinfo, namespace: default}, spec: "
      "{appRef: "
      "{kind: HelmRelease, name: podinfo}, environments: [{name: dev, targets: [{namespace: podinfo}]}]}}");
  const Value application = yaml(release("1.0.0"));
  EXPECT_NE(ask("dev-team", client::Verb::Create, kPipelines, pipeline), "");
  EXPECT_EQ(ask("ops", client::Verb::Create, kPipelines, pipeline), "");
  EXPECT_NE(ask("ops", client::Verb::Create, kReleases, application), "");
  EXPECT_EQ(ask("dev-team", client::Verb::Create, kReleases, application), "");
  EXPECT_TRUE(until([&] { return version("dev") == "1.0.0"; })) << json::print_pretty(status());
  const Value stored = get(kHub, kPipelines, "podinfo");
  const Value changed =
      stored.with_path({"spec", "environments"}, json::array({stored["spec"]["environments"].item(0).with("name", "other")}));
  EXPECT_NE(ask("dev-team", client::Verb::Update, kPipelines, changed), "");
  EXPECT_NE(ask("dev-team", client::Verb::Delete, kPipelines, stored), "");
  EXPECT_EQ(ask("ops", client::Verb::Delete, kPipelines, stored), "");
}

TEST_F(Seed004, every_field_but_cluster_ref_is_mandatory) {
  const Value whole = yaml(printed("story-1.yaml"));
  const auto create = [&](const Value& object) {
    const auto made = env_->run(client::create(client(kHub), kPipelines, object, "tester"));
    return made ? std::string() : made.error().message;
  };
  const Value target = whole["spec"]["environments"].item(0)["targets"].item(0);
  const Value environment = whole["spec"]["environments"].item(0);
  const auto with_environment = [&](const Value& one) { return whole.with_path({"spec", "environments"}, json::array({one})); };
  const auto with_target = [&](const Value& one) { return with_environment(environment.with("targets", json::array({one}))); };
  const std::pair<const char*, Value> missing[] = {
      {"spec.appRef", whole.without_path({"spec", "appRef"})},
      {"spec.appRef.kind", whole.without_path({"spec", "appRef", "kind"})},
      {"spec.appRef.name", whole.without_path({"spec", "appRef", "name"})},
      {"spec.environments", whole.without_path({"spec", "environments"})},
      {"spec.environments[0].name", with_environment(environment.without("name"))},
      {"spec.environments[0].targets", with_environment(environment.without("targets"))},
      {"spec.environments[0].targets[0].namespace", with_target(target.without("namespace"))},
      {"spec.environments[0].targets[0].clusterRef.name", with_target(target.without_path({"clusterRef", "name"}))},
  };
  for (const auto& [field, object] : missing) EXPECT_TRUE(create(object).contains(field)) << field << ": " << create(object);
  EXPECT_EQ(create(with_target(target.without("clusterRef"))), "");
}

TEST_F(Seed004, without_a_cluster_ref_the_target_is_in_the_pipelines_own_cluster) {
  have({"dev"});
  make_namespace(kHub, "podinfo");
  apply(kHub, release("1.0.0"));
  apply("dev", release("2.0.0"));
  apply(kHub,
        "{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: podinfo}, spec: {appRef: {kind: "
        "HelmRelease, name: podinfo}, environments: [{name: here, targets: [{namespace: podinfo}]}, {name: there, targets: "
        "[{namespace: podinfo, clusterRef: {kind: GitopsCluster, name: dev}}]}]}}");
  EXPECT_TRUE(until([&] { return line() == "here 1.0.0 → there 2.0.0"; })) << json::print_pretty(status());
}

TEST_F(Seed004, one_list_has_all_pipelines_with_their_state) {
  have({"dev"});
  for (const char* name : {"podinfo", "web"}) {
    apply("dev", release("1.0.0", name));
    apply(kHub, pipeline_over({{"dev", {"dev"}}}, "", name));
  }
  ASSERT_TRUE(until([&] { return version("dev") == "1.0.0" && version("dev", "web") == "1.0.0"; }));
  std::vector<std::string> lines;
  for (const Value& one : list(kHub, kPipelines)) {
    lines.push_back(fmt::format("{}: {}", kube::name(one), one["status"]["line"].as_string()));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"podinfo: dev 1.0.0", "web: dev 1.0.0"}));
}

}  // namespace
}  // namespace slipway::pipeline_test

// A Pipeline acts as its author (A8): its status shows of a target what that user may see, and annotations, Secrets and
// clusters are read and written with that user's rights.
#include <fmt/format.h>

#include "control/acting_client.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"
#include "landscape.h"

namespace slipway::pipeline_test {
namespace {

using delivery::pipeline::kGitopsClusters;
using delivery::pipeline::kPipelines;

const kube::Resource kDeployments{"apps", "v1", "deployments"};
const kube::Resource kAuthorBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

/// alice may edit team-a; team-b has a Deployment "web" of which she may see nothing.
class PipelineAuthor : public Landscape {
 public:
  void SetUp() override {
    Landscape::SetUp();
    for (const char* ns : {"team-a", "team-b"}) make_namespace(kHub, ns);
    bind("alice", "team-a");
    for (const char* ns : {"team-a", "team-b"}) {
      apply(kHub,
            fmt::format("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: {}}}, spec: {{replicas: 1, "
                        "selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}, spec: "
                        "{{containers: [{{name: main, image: 'web:7.7.7'}}]}}}}}}}}",
                        ns));
    }
  }
  void bind(const std::string& user, const std::string& ns) {
    apply(kHub,
          fmt::format("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {0}, namespace: {1}}}, "
                      "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}}, subjects: [{{kind: "
                      "User, apiGroup: rbac.authorization.k8s.io, name: {0}}}]}}",
                      user, ns));
  }
  control::ActingClient as(const std::string& user) {
    return {client(kHub), std::make_shared<const kube::UserInfo>(
                              kube::UserInfo{.name = user, .uid = "", .groups = {"system:authenticated"}, .extra = {}})};
  }
  void create_as(const std::string& user, const kube::Resource& resource, std::string_view yaml) {
    control::ActingClient acting = as(user);
    const auto made = env_->run(client::create(acting, resource, *json::parse_yaml(yaml), "tester"));
    EXPECT_TRUE(made) << made.error().message;
  }
  void create_spy(const std::string& targets, const std::string& annotations = "") {
    create_as(
        "alice", kPipelines,
        fmt::format("{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: spy, namespace: team-a, "
                    "annotations: {{{}}}}}, spec: {{appRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}, "
                    "environments: [{{name: here, targets: [{}]}}]}}}}",
                    annotations, targets));
  }
  Value status() { return get(kHub, kPipelines, "spy", "team-a")["status"]; }
  Value target(std::size_t index = 0) { return status()["environments"]["here"]["targets"].item(index); }
};

TEST_F(PipelineAuthor, a_status_shows_nothing_of_a_target_that_its_author_may_not_see) {
  create_spy("{namespace: team-a}, {namespace: team-b}");
  EXPECT_EQ(kube::annotation(get(kHub, kPipelines, "spy", "team-a"), "pipelines.slipway.dev/author"), "alice");
  ASSERT_TRUE(until([&] { return target(0)["running"]["version"].as_string() == "web:7.7.7"; })) << json::print(status());
  EXPECT_EQ(target(1)["state"].as_string(), "forbidden");
  EXPECT_EQ(target(1)["message"].as_string(),
            "AuthorLacksRight: the pipeline's author alice may not get deployments.apps web in namespace team-b");
  EXPECT_TRUE(target(1)["running"].is_null() && target(1)["images"].empty()) << json::print(target(1));
  EXPECT_EQ(status()["problems"].item(0)["kind"].as_string(), "AuthorLacksRight");
  // The right is given, and lost.
  bind("alice", "team-b");
  EXPECT_TRUE(until([&] { return target(1)["running"]["version"].as_string() == "web:7.7.7"; }, seconds{65}))
      << json::print(status());
  remove(kHub, kAuthorBindings, "alice", "team-b");
  advance(minutes{1});
  apply(kHub,
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: team-a, labels: {a: b}}, spec: {replicas: 2, "
        "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, "
        "image: 'web:7.7.8'}]}}}}");
  EXPECT_TRUE(until([&] { return target(1)["state"].as_string() == "forbidden"; }, minutes{2})) << json::print(status());
  EXPECT_FALSE(json::print(target(1)).contains("7.7.7"));
}

TEST_F(PipelineAuthor, what_another_user_has_written_shows_what_both_may_see) {
  apply(kHub,
        "{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: spy, namespace: team-a, annotations: "
        "{pipelines.slipway.dev/author: alice, slipway.dev/content-authors: '[{\"user\":\"bob\",\"groups\":[]}]'}}, spec: "
        "{appRef: {apiVersion: apps/v1, kind: Deployment, name: web}, environments: [{name: here, targets: [{namespace: "
        "team-a}]}]}}");
  ASSERT_TRUE(until([&] { return !target()["state"].as_string().empty(); })) << json::print(status());
  EXPECT_EQ(target()["state"].as_string(), "forbidden");
  bind("bob", "team-a");
  EXPECT_TRUE(until([&] { return target()["running"]["version"].as_string() == "web:7.7.7"; }, minutes{2}))
      << json::print(status());
}

TEST_F(PipelineAuthor, annotations_are_written_where_the_author_may_patch) {
  apply(kHub,
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: see, namespace: team-b}, rules: [{apiGroups: "
        "[apps], resources: [deployments], verbs: [get, list, watch]}]}");
  apply(kHub,
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: see, namespace: team-b}, roleRef: "
        "{apiGroup: rbac.authorization.k8s.io, kind: Role, name: see}, subjects: [{kind: User, apiGroup: "
        "rbac.authorization.k8s.io, name: alice}]}");
  create_spy("{namespace: team-a}, {namespace: team-b}", "pipelines.slipway.dev/annotate: 'true'");
  const auto annotated = [&](const std::string& ns) {
    return std::string(kube::annotation(get(kHub, kDeployments, "web", ns), "pipelines.weave.works/pipeline"));
  };
  ASSERT_TRUE(until([&] { return annotated("team-a") == "team-a/spy"; }));
  ASSERT_TRUE(until([&] { return target(1)["running"]["version"].as_string() == "web:7.7.7"; })) << json::print(status());
  advance(minutes{5});
  EXPECT_EQ(annotated("team-b"), "") << "alice may get it, and not patch it";
  bind("alice", "team-b");
  EXPECT_TRUE(until([&] { return annotated("team-b") == "team-a/spy"; }, seconds{65}));
}

TEST_F(PipelineAuthor, a_cluster_of_another_namespace_is_looked_into_by_who_may_get_its_gitops_cluster) {
  join("prod");
  make_namespace("prod", "shop");
  apply("prod",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1, selector: "
        "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "
        "'web:9.9.9'}]}}}}");
  create_spy("{namespace: shop, clusterRef: {kind: GitopsCluster, name: prod, namespace: default}}");
  ASSERT_TRUE(until([&] { return target()["state"].as_string() == "forbidden"; })) << json::print(status());
  EXPECT_TRUE(
      target()["message"].as_string().ends_with("may not get gitopsclusters.gitops.weave.works prod in namespace default"));
  advance(minutes{2});
  EXPECT_FALSE(json::print(status()).contains("9.9.9"));
  bind("alice", "default");
  EXPECT_TRUE(until([&] { return target()["running"]["version"].as_string() == "web:9.9.9"; }, seconds{65}));
}

TEST_F(PipelineAuthor, a_gitops_cluster_reads_its_kubeconfig_as_its_author) {
  apply(kHub,
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: clusters, namespace: default}, rules: "
        "[{apiGroups: [gitops.weave.works], resources: ['*'], verbs: ['*']}]}");
  apply(
      kHub,
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: clusters, namespace: default}, roleRef: "
      "{apiGroup: rbac.authorization.k8s.io, kind: Role, name: clusters}, subjects: [{kind: User, apiGroup: "
      "rbac.authorization.k8s.io, name: dave}]}");
  join("prod");
  const Value joined = get(kHub, kGitopsClusters, "prod");
  create_as("dave", kGitopsClusters,
            fmt::format(
                "{{apiVersion: gitops.weave.works/v1alpha1, kind: GitopsCluster, metadata: {{name: mine, namespace: default}}, "
                "spec: {}}}",
                json::print(joined["spec"])));
  const auto ready = [&] { return kube::condition(get(kHub, kGitopsClusters, "mine"), "Ready")["reason"].str(); };
  ASSERT_TRUE(until([&] { return ready() == "AuthorLacksRight"; })) << ready();
  bind("dave", "default");
  EXPECT_TRUE(until([&] { return ready() == "SecretFound"; }, seconds{60})) << ready();
}

}  // namespace
}  // namespace slipway::pipeline_test

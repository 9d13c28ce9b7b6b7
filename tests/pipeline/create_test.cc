// `slipway pipeline create`: what it prints is what an API server accepts, and wrong flags are told by name.
#include "commands_fixture.h"

namespace slipway::pipeline_test {
namespace {

using Create = PipelineCommands;

TEST_F(Create, flags_become_a_pipeline_that_a_server_accepts) {
  const std::string text = run("", "create", {"web"},
                               {{"app", "HelmRelease/web"},
                                {"environment", "dev=web\nprod=eu/web,fleet/us/web"},
                                {"manual", "true"},
                                {"promote-by", "pull-request"},
                                {"repository", "https://git.example/shop"},
                                {"secret", "git"}});
  EXPECT_EQ(text, R"(apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata:
  namespace: shop
  name: web
spec:
  appRef:
    kind: HelmRelease
    name: web
  environments:
  - name: dev
    targets:
    - namespace: web
  - name: prod
    targets:
    - namespace: web
      clusterRef:
        kind: GitopsCluster
        name: eu
    - namespace: web
      clusterRef:
        kind: GitopsCluster
        name: us
        namespace: fleet
  promotion:
    manual: true
    strategy:
      pull-request:
        type: github
        url: https://git.example/shop
        baseBranch: main
        secretRef:
          name: git
)");
  const auto made = apply(pipeline::kPipelines, text);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)["spec"], yaml(text)["spec"]);
}

TEST_F(Create, other_strategies_are_there_too) {
  const auto strategy = [&](std::map<std::string, std::string> options) {
    options.insert({{"app", "Kustomization/web"}, {"environment", "dev=web"}});
    return yaml(run("", "create", {"web"}, options))["spec"]["promotion"];
  };
  EXPECT_TRUE(strategy({}).is_null());
  EXPECT_EQ(strategy({{"manual", "true"}}), yaml("{manual: true}"));
  EXPECT_EQ(strategy({{"promote-by", "notification"}}), yaml("{strategy: {notification: {}}}"));
  EXPECT_EQ(strategy({{"promote-by", "commit"}, {"repository", "https://git.example/shop"}, {"base-branch", "live"}}),
            yaml("{strategy: {commit: {url: 'https://git.example/shop', baseBranch: live}}}"));
}

struct WrongFlags {
  std::vector<std::string> words;
  std::map<std::string, std::string> options;
  std::string said;
};

TEST_F(Create, wrong_flags_are_told_by_name) {
  const std::map<std::string, std::string> good = {{"app", "HelmRelease/web"}, {"environment", "dev=web"}};
  const auto with = [&](const std::map<std::string, std::string>& more) {
    std::map<std::string, std::string> all = more;
    all.insert(good.begin(), good.end());
    return all;
  };
  const std::string target = "a target is NAMESPACE, CLUSTER/NAMESPACE or CLUSTER-NAMESPACE/CLUSTER/NAMESPACE";
  const WrongFlags cases[] = {
      {{}, good, "BadRequest: name one pipeline: slipway pipeline create NAME"},
      {{"web"}, {}, "BadRequest: say what is delivered: --app KIND/NAME, e.g. --app HelmRelease/podinfo"},
      {{"web"}, with({{"app", "web"}}), "BadRequest: --app \"web\": must be KIND/NAME, e.g. HelmRelease/podinfo"},
      {{"web"},
       {{"app", "HelmRelease/web"}},
       "BadRequest: name the environments in order: --environment dev=TARGET --environment prod=TARGET,TARGET; " + target},
      {{"web"}, with({{"environment", "dev"}}), "BadRequest: --environment \"dev\": must be NAME=TARGET,TARGET; " + target},
      {{"web"}, with({{"environment", "dev=a,"}}), "BadRequest: --environment \"\": " + target},
      {{"web"}, with({{"environment", "dev=a/b/c/d"}}), "BadRequest: --environment \"a/b/c/d\": " + target},
      {{"web"},
       with({{"promote-by", "mail"}}),
       "BadRequest: --promote-by \"mail\": must be pull-request or commit or notification"},
      {{"web"},
       with({{"promote-by", "pull-request"}}),
       "BadRequest: --promote-by pull-request needs --repository, the URL of the repository to change"},
      {{"web"}, with({{"forge", "gitlab"}}), "BadRequest: --forge is of --promote-by pull-request: give that too"},
      {{"web"},
       with({{"promote-by", "pull-request"}, {"repository", "https://git.example/a"}, {"forge", "sourceforge"}}),
       "Invalid: Pipeline.pipelines.weave.works \"web\" is invalid: spec.promotion.strategy.pull-request.type: Unsupported "
       "value: "
       "\"sourceforge\": supported values: \"github\", \"gitlab\", \"bitbucket-server\", \"azure-devops\""},
      {{"web"},
       with({{"environment", "dev=a\ndev=b"}}),
       "Invalid: Pipeline.pipelines.weave.works \"web\" is invalid: spec.environments[1].name: Duplicate value: \"dev\""},
      {{"Web"},
       good,
       "Invalid: Pipeline.pipelines.weave.works \"Web\" is invalid: metadata.name: Invalid value: \"Web\": a lowercase RFC "
       "1123 "
       "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
      {{"web"}, with({{"git-url", "/a"}}), "BadRequest: --git-url is of --commit and --pull-request: give one of them too"},
      {{"web"},
       with({{"pull-request", "true"}}),
       "NotImplemented: this program has no git: commit what create prints without these flags"},
      {{"web"}, with({{"git-forge", "gitlab"}}), "BadRequest: --git-forge is of --pull-request: give that too"},
      {{"web"}, with({{"commit", "true"}, {"pull-request", "true"}}), "BadRequest: give one of --commit and --pull-request"}};
  for (const WrongFlags& one : cases) EXPECT_EQ(run("", "create", one.words, one.options), one.said);
}

}  // namespace
}  // namespace slipway::pipeline_test

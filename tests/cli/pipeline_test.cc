// Pipelines on the command line: what is given twice, short options, names in every form, and what is said of wrong input.
#include "git/test_repository.h"
#include "program.h"

namespace slipway::cli {
namespace {

using Pipelines = CommandLine;

void expect_shows(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing \"" << part << "\" in:\n" << text;
  }
}

TEST_F(Pipelines, one_is_created_applied_paused_and_shown) {
  const Ended created = slipway({"pipeline", "create", "web", "--app", "HelmRelease/web", "--environment", "dev=web",
                                 "--environment", "prod=eu/web,us/web", "--manual"});
  EXPECT_EQ(created.code, 0) << created.err;
  expect_shows(created.out, {"kind: Pipeline", "- name: dev", "- name: prod", "name: us", "manual: true"});
  const std::string release =
      "apiVersion: pipelines.slipway.dev/v1alpha1\nkind: Release\nmetadata: {name: web-1}\nspec: {pipeline: web, version: "
      "1.0.0}\n";
  const Ended run = slipway({"run", "-f", write("pipeline.yaml", created.out), "-f", write("release.yaml", release),
                             "--data-dir", data_dir(), "--timeout", "60s"});
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const auto pipeline = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "pipeline");
    words.insert(words.end(), {"--data-dir", data_dir()});
    return slipway(std::move(words));
  };
  expect_shows(pipeline({"list", "-A"}).out, {"NAMESPACE", "default", "HelmRelease web", "prod"});
  expect_shows(pipeline({"status", "pipeline/web", "-o", "table"}).out, {"ENVIRONMENT", "CLUSTER", "eu", "us"});
  const Ended held = pipeline({"hold", "web", "--environment", "dev", "--environment", "prod"});
  EXPECT_EQ(held.code, 0) << held.err;
  expect_shows(held.out, {"nothing is promoted into dev, prod as local"});
  const Ended promoted = pipeline({"promote", "web", "--to", "prod", "--version", "1.0.0"});
  EXPECT_EQ(promoted.code, 0) << promoted.err;
  expect_shows(promoted.out, {"1.0.0 is to get into prod as local"});
  expect_shows(promoted.err, {"prod is held"});
  expect_shows(slipway({"describe", "pipeline/web", "--data-dir", data_dir()}).out, {"Application:", "HelmRelease web"});
  expect_shows(slipway({"why", "pipeline/web", "--data-dir", data_dir()}).out, {"root cause"});
  expect_shows(pipeline({"resume", "web"}).out, {": over"});
}

/// Whoever may write to a served cluster would read and write with the server's rights.
TEST_F(Pipelines, a_server_takes_repositories_of_its_machine_only_when_told_to) {
  const git::TestRepository repository;
  const std::string file = write(
      "source.yaml",
      "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: config}\nspec: {interval: 1s, url: " +
          repository.path() + ", ref: {branch: main}}\n");
  const auto shown = [&](std::vector<std::string> more, const std::string& awaited) {
    std::vector<std::string> words{"up", "--listen", "127.0.0.1:0", "--data-dir", data_dir(), "--simulated-flux", "-f", file};
    words.insert(words.end(), more.begin(), more.end());
    Program up(folder_, words);
    EXPECT_TRUE(up.wait_for_output("serving"));
    std::string out;
    EXPECT_TRUE(eventually([&] {
      out = slipway({"get", "gitrepository/config", "-o", "json", "--data-dir", data_dir()}).out;
      return out.contains(awaited);
    })) << out;
    up.signal(SIGTERM);
    EXPECT_EQ(up.wait().code, 0);
  };
  shown({}, "--allow-local-git");
  shown({"--allow-local-git"}, "main@sha1:" + repository.tip());
}

constexpr const char* kWorkloadsOfPipelines = R"(
apiVersion: v1
kind: Namespace
metadata: {name: dev}
---
apiVersion: v1
kind: Namespace
metadata: {name: pl}
---
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: shop, namespace: pl}
spec: {appRef: {kind: HelmRelease, name: myshop}, environments: [{name: dev, targets: [{namespace: dev}]}]}
---
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: dep, namespace: pl}
spec: {appRef: {apiVersion: apps/v1, kind: Deployment, name: plain}, environments: [{name: dev, targets: [{namespace: dev}]}]}
---
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: same, namespace: dev}
spec: {appRef: {apiVersion: apps/v1, kind: Deployment, name: namesake}, environments: [{name: d, targets: [{namespace: dev}]}]}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: myshop
  namespace: dev
  annotations: {pipelines.weave.works/pipeline: pl/shop, pipelines.weave.works/environment: dev}
spec: {interval: 1m, chart: {spec: {chart: shop, version: 1.0.0, sourceRef: {kind: HelmRepository, name: absent}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: plain
  namespace: dev
  annotations: {pipelines.weave.works/pipeline: pl/dep, pipelines.weave.works/environment: dev}
spec:
  selector: {matchLabels: {app: plain}}
  template: {metadata: {labels: {app: plain}}, spec: {containers: [{name: c, image: "nginx:1"}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: namesake, namespace: dev, annotations: {pipelines.weave.works/pipeline: pl/same}}
spec:
  selector: {matchLabels: {app: namesake}}
  template: {metadata: {labels: {app: namesake}}, spec: {containers: [{name: c, image: "nginx:1"}]}}
)";

/// Pipelines stand in other namespaces than their targets, and kinds of Flux are none of Slipway's own.
TEST_F(Pipelines, workloads_of_a_server_are_described_with_the_pipeline_of_the_namespace_that_they_name) {
  Program up(folder_, {"up", "--listen", "127.0.0.1:0", "--data-dir", data_dir(), "--simulated-flux", "-f",
                       write("all.yaml", kWorkloadsOfPipelines)});
  ASSERT_TRUE(up.wait_for_output("deployment/namesake applied"));
  const auto ask = [&](const std::string& verb, const std::string& what) {
    const Ended told = slipway({verb, what, "-n", "dev", "--kubeconfig", data_dir() + "/kubeconfig"});
    EXPECT_EQ(told.code, 0) << told.err;
    return told.out;
  };
  EXPECT_TRUE(eventually([&] { return ask("describe", "deployment/plain").contains("Versions:     dev nginx:1"); }))
      << ask("describe", "deployment/plain");
  expect_shows(ask("describe", "deployment/plain"), {"Pipeline:     pl/dep\n", "Environment:  dev\n"});
  EXPECT_FALSE(ask("describe", "deployment/plain").contains("Problem:"));
  const std::string namesake = ask("describe", "deployment/namesake");
  expect_shows(namesake, {"Pipeline:  pl/same\n", "Problem:   it is not in this cluster"});
  EXPECT_FALSE(namesake.contains("Versions:")) << "those are of Pipeline dev/same\n" << namesake;
  for (const char* word : {"helmrelease", "helmreleases", "HelmRelease", "hr"}) {
    expect_shows(ask("describe", word + std::string("/myshop")), {"Pipeline:     pl/shop\n", "kind: HelmRelease"});
  }
  expect_shows(ask("why", "helmrelease/myshop"), {"Pipeline pl/shop, environment dev"});
  up.signal(SIGTERM);
  EXPECT_EQ(up.wait().code, 0);
}

TEST_F(Pipelines, one_is_committed_to_a_real_repository_once) {
  const git::TestRepository repository;
  const std::vector<std::string> create = {"pipeline",      "create",  "web",      "--app",     "HelmRelease/web",
                                           "--environment", "dev=web", "--commit", "--git-url", repository.path()};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), create.begin(), create.end());
    return slipway(std::move(more));
  };
  const Ended made = with({});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "pipelines/web.yaml: committed as " + repository.tip() + " of branch main\n");
  expect_shows(repository.show("main", "pipelines/web.yaml"), {"kind: Pipeline", "name: web"});
  const Ended again = with({});
  EXPECT_EQ(again.out, "pipelines/web.yaml: is so already in " + repository.tip() + " of branch main\n");
  const Ended branch = with({"--git-branch", "add-web", "--git-base", "main", "--git-path", "web.yaml"});
  EXPECT_EQ(branch.code, 0) << branch.err;
  expect_shows(repository.show("add-web", "web.yaml"), {"kind: Pipeline"});
  const Ended missing = with({"--git-branch", "absent"});
  EXPECT_EQ(missing.code, 2);
  expect_shows(missing.err, {"refs/heads/absent"});
  const Ended nowhere =
      slipway({"pipeline", "create", "web", "--app", "HelmRelease/web", "--environment", "dev=web", "--commit"});
  EXPECT_EQ(nowhere.code, 2);
  expect_shows(nowhere.err, {"--commit needs --git-url"});
}

TEST_F(Pipelines, wrong_input_is_told_with_what_to_do) {
  const Ended nothing = slipway({"pipeline", "create", "web"});
  EXPECT_EQ(nothing.code, 2);
  expect_shows(nothing.err, {"say what is delivered: --app KIND/NAME"});
  const Ended verb = slipway({"pipeline", "promot", "web"});
  EXPECT_EQ(verb.code, 2);
  const Ended twice = slipway({"pipeline", "create", "web", "--app", "HelmRelease/web", "--environment", "dev=a,a"});
  EXPECT_EQ(twice.code, 2);
  expect_shows(twice.err, {"spec.environments[0].targets[1]", "Duplicate value"});
}

TEST_F(Pipelines, a_manifest_with_a_tab_is_refused_with_its_line) {
  const Ended ended = slipway(
      {"run", "-f", write("tab.yaml", "apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipeline\nmetadata:\n\tname: web\n"),
       "--data-dir", data_dir()});
  EXPECT_EQ(ended.code, 2);
  expect_shows(ended.err, {"tab.yaml", "4"});
}

}  // namespace
}  // namespace slipway::cli

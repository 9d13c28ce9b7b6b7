#include "delivery/pipeline/import.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/pipeline/check.h"
#include "delivery/pipeline/corpus_test.h"
#include "json/text.h"
#include "json/yaml_place.h"

namespace slipway::delivery::pipeline {
namespace {

/// As the command line reads files.
std::vector<SourceObject> objects_of(const std::string& name, const std::string& text) {
  std::vector<SourceObject> objects;
  const auto documents = json::parse_yaml_all(text);
  if (!documents) {
    ADD_FAILURE() << name << ": " << documents.error().message;
    return objects;
  }
  for (const json::YamlDocument& document : *documents) {
    objects.push_back({.object = document.value,
                       .source = fmt::format("{}:{}", name, document.line),
                       .place = [name, text, line = document.line](const std::string& path) {
                         return fmt::format("{}:{}", name, json::yaml_line(text, line, path));
                       }});
  }
  return objects;
}

ImportOptions options() {
  return {.app = AppRef{.api_version = "helm.toolkit.fluxcd.io/v2", .kind = "HelmRelease", .name = "podinfo"}};
}

std::vector<std::string> refusals(const Imported& made) {
  std::vector<std::string> lines;
  for (const Refusal& refusal : made.refusals) lines.push_back(fmt::format("{}: {}", refusal.at, refusal.field));
  return lines;
}

using Lines = std::vector<std::string>;

constexpr const char* kKargo = R"(apiVersion: kargo.akuity.io/v1alpha1
kind: Project
metadata: {name: shop}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: ProjectConfig
metadata: {name: shop, namespace: shop}
spec:
  promotionPolicies:
  - stageSelector: {name: test}
    autoPromotionEnabled: true
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Warehouse
metadata: {name: web, namespace: shop}
spec:
  subscriptions: [{chart: {repoURL: "oci://example.test/web"}}]
---
apiVersion: kargo.akuity.io/v1alpha1
kind: PromotionTask
metadata: {name: bump, namespace: shop}
spec:
  vars: [{name: repo}]
  steps:
  - {uses: git-clone, config: {repoURL: "${{ vars.repo }}", checkout: [{branch: main, path: ./src}]}}
  - {uses: yaml-update, config: {path: ./src/values.yaml}}
  - {uses: git-commit, as: commit}
  - {uses: git-push}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: prod, namespace: shop}
spec:
  requestedFreight:
  - origin: {kind: Warehouse, name: web}
    sources: {stages: [uat, test], availabilityStrategy: All, requiredSoakTime: 1h}
  promotionTemplate:
    spec:
      steps:
      - {uses: git-clone, config: {repoURL: "https://github.example.test/shop/env", checkout: [{branch: main}]}}
      - {uses: git-push, config: {generateTargetBranch: true}}
      - {uses: git-open-pr, config: {repoURL: "https://github.example.test/shop/env", targetBranch: main}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: test, namespace: shop}
spec:
  vars: [{name: repo, value: "https://git.example.test/env"}]
  requestedFreight:
  - origin: {kind: Warehouse, name: web}
    sources: {direct: true}
  promotionTemplate: {spec: {steps: [{task: {name: bump}}]}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: uat, namespace: shop}
spec:
  requestedFreight:
  - origin: {kind: Warehouse, name: web}
    sources: {stages: [test]}
)";

TEST(Import, stages_of_a_warehouse_become_a_pipeline_in_their_order) {
  const Imported made = import_objects(objects_of("kargo.yaml", kKargo), options());
  EXPECT_EQ(refusals(made), Lines{});
  ASSERT_EQ(made.pipelines.size(), 1U);
  EXPECT_EQ(json::print_yaml(made.pipelines[0]), R"(apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata:
  name: web
  namespace: shop
spec:
  appRef:
    apiVersion: helm.toolkit.fluxcd.io/v2
    kind: HelmRelease
    name: podinfo
  environments:
  - name: test
    targets:
    - namespace: shop-test
    promotion:
      strategy:
        commit:
          url: https://git.example.test/env
          baseBranch: main
    dependsOn: []
    soak: 1h0m0s
  - name: uat
    targets:
    - namespace: shop-uat
    promotion:
      manual: true
    dependsOn:
    - test
    soak: 1h0m0s
  - name: prod
    targets:
    - namespace: shop-prod
    promotion:
      manual: true
      strategy:
        pull-request:
          type: github
          url: https://github.example.test/shop/env
          baseBranch: main
    dependsOn:
    - uat
    - test
)");
  ASSERT_EQ(made.notes.size(), 2U);
  EXPECT_TRUE(made.notes[0].starts_with("kargo.yaml:26: mark the field that yaml-update sets")) << made.notes[0];
}

TEST(Import, what_a_pipeline_has_no_word_for_is_refused_by_name_and_line) {
  std::string text = kKargo;
  text += R"(  verification:
    analysisTemplates: [{name: smoke}]
  promotionTemplate:
    spec:
      steps:
      - uses: argocd-update
      - uses: git-push
        if: ${{ true }}
      - task: {name: nowhere}
)";
  const Imported made = import_objects(objects_of("kargo.yaml", text), options());
  EXPECT_TRUE(made.pipelines.empty());
  EXPECT_EQ(refusals(made),
            (Lines{"kargo.yaml:61: spec.verification", "kargo.yaml:66: spec.promotionTemplate.spec.steps[0].uses",
                   "kargo.yaml:68: spec.promotionTemplate.spec.steps[1].if",
                   "kargo.yaml:69: spec.promotionTemplate.spec.steps[2].task.name",
                   "kargo.yaml:65: spec.promotionTemplate.spec.steps", "kargo.yaml:65: spec.promotionTemplate.spec.steps"}))
      << "the last two: which repository, and which branch";
}

TEST(Import, the_application_has_to_be_named) {
  ImportOptions none = options();
  none.app.reset();
  EXPECT_EQ(refusals(import_objects(objects_of("kargo.yaml", kKargo), none)), Lines{"kargo.yaml:1: spec.appRef"});
}

TEST(Import, targets_are_where_the_option_says) {
  ImportOptions elsewhere = options();
  elsewhere.target_namespace = "{environment}-of-{project}";
  const Imported made = import_objects(objects_of("kargo.yaml", kKargo), elsewhere);
  ASSERT_EQ(made.pipelines.size(), 1U);
  EXPECT_EQ(made.pipelines[0]["spec"]["environments"].item(0)["targets"].item(0)["namespace"].as_string(), "test-of-shop");
}

TEST(Import, freight_of_several_sources_is_refused) {
  const auto stage = [](std::string_view sources) {
    return fmt::format(R"(apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {{name: a, namespace: shop}}
spec:
  requestedFreight: {}
)",
                       sources);
  };
  const auto refused = [&](std::string_view sources) {
    return refusals(import_objects(objects_of("s", stage(sources)), options()));
  };
  EXPECT_EQ(refused("[{origin: {name: w}, sources: {direct: true}}, {origin: {name: v}}]"),
            Lines{"s:5: spec.requestedFreight[1]"});
  EXPECT_EQ(refused("[{origin: {name: w}, sources: {direct: true, stages: [a]}}]"),
            (Lines{"s:5: spec.requestedFreight[0].sources.direct"}));
  EXPECT_EQ(refused("[{origin: {name: w}, sources: {}}]"), Lines{"s:5: spec.requestedFreight[0].sources"});
  EXPECT_EQ(refused("[{origin: {name: w}, sources: {stages: [b]}}]"), Lines{"s:5: spec.requestedFreight[0].sources.stages"});
  EXPECT_EQ(refused("[]"), Lines{"s:5: spec.requestedFreight"});
}

constexpr const char* kStrategy = R"(apiVersion: promoter.argoproj.io/v1alpha1
kind: ScmProvider
metadata: {name: forge, namespace: web}
spec: {github: {domain: forge.example.test}}
---
apiVersion: promoter.argoproj.io/v1alpha1
kind: GitRepository
metadata: {name: env, namespace: web}
spec: {github: {owner: shop, name: env}, scmProviderRef: {kind: ScmProvider, name: forge}}
---
apiVersion: promoter.argoproj.io/v1alpha1
kind: PromotionStrategy
metadata: {name: web, namespace: web}
spec:
  gitRepositoryRef: {name: env}
  environments:
  - branch: environment/dev
  - {branch: environment/prod, autoMerge: false}
)";

TEST(Import, branches_of_a_strategy_become_environments) {
  const Imported made = import_objects(objects_of("p.yaml", kStrategy), options());
  EXPECT_EQ(refusals(made), Lines{});
  ASSERT_EQ(made.pipelines.size(), 1U);
  const auto spec = json::decode<PipelineSpec>(made.pipelines[0]["spec"]);
  ASSERT_TRUE(spec) << spec.error().message;
  ASSERT_EQ(spec->environments.size(), 2U);
  EXPECT_EQ(spec->environments[0].name, "dev");
  EXPECT_FALSE(spec->environments[0].promotion);
  const PullRequest& change = *spec->environments[1].promotion->strategy->pull_request;
  EXPECT_EQ(change.url, "https://forge.example.test/shop/env");
  EXPECT_EQ(change.base_branch, "environment/prod");
}

TEST(Import, commit_statuses_and_automatic_merges_are_refused) {
  std::string text = kStrategy;
  text += "  - {branch: environment/eu, activeCommitStatuses: [{key: healthy}]}\n";
  EXPECT_EQ(
      refusals(import_objects(objects_of("p.yaml", text), options())),
      (Lines{"p.yaml:19: spec.environments[2].activeCommitStatuses[0].key", "p.yaml:19: spec.environments[2].autoMerge"}));
}

/// The value at "spec.a[0].b", or the nearest one around it.
bool is_in(const json::Value& object, const std::string& field) {
  const std::string_view first = std::string_view(field).substr(0, field.find_first_of(".["));
  return object.has(first);
}

/// Each file of the corpus becomes pipelines that could be applied, or is refused by fields that it has.
TEST(Import, every_file_of_the_corpus_is_taken_over_or_refused_by_a_field) {
  CountedSuite suite("pipeline/import");
  std::size_t taken = 0;
  for (const char* folder : {"kargo", "kargo-docs", "gitops-promoter"}) {
    for (const CorpusFile& file : corpus_folder(folder)) {
      const std::vector<SourceObject> objects = objects_of(file.name, file.text);
      const Imported made = import_objects(objects, options());
      bool is_well = made.pipelines.empty() != made.refusals.empty();
      for (const kube::Object& pipeline : made.pipelines) {
        const auto spec = json::decode<PipelineSpec>(pipeline["spec"], "spec");
        is_well = is_well && spec && check(*spec, "x").empty() && !spec->environments.empty();
        ++taken;
      }
      for (const Refusal& refusal : made.refusals) {
        const bool has_line = refusal.at.starts_with(file.name + ":") && !refusal.text.empty();
        const bool has_field =
            std::ranges::any_of(objects, [&](const SourceObject& one) { return is_in(one.object, refusal.field); });
        is_well = is_well && has_line && has_field;
      }
      EXPECT_TRUE(is_well) << file.name << " " << fmt::format("{}", made.refusals.size());
      suite.count(is_well);
    }
  }
  if (suite.share() > 0) {
    fmt::print("taken over: {}\n", taken);
  }
}

}  // namespace
}  // namespace slipway::delivery::pipeline

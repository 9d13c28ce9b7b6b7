#include "delivery/pipeline/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/pipeline/corpus_test.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

/// The fields of what is wrong with a pipeline whose spec is this YAML, in a line; "" when nothing is.
std::string faults(const std::string& yaml) {
  const auto value = json::parse_yaml(yaml);
  if (!value) return value.error().message;
  const auto spec = json::decode<PipelineSpec>(*value, "spec");
  std::string fields;
  for (const Cause& cause : spec ? check(*spec, "home") : spec.error().causes)
    fields += (fields.empty() ? "" : " ") + cause.field;
  return fields;
}

std::string with_environments(const std::string& environments) {
  return fmt::format("{{appRef: {{kind: HelmRelease, name: web}}, environments: [{}]}}", environments);
}

TEST(PipelineCheck, what_must_be_there_is_asked_for_by_name) {
  EXPECT_EQ(faults("{}"), "spec.appRef spec.environments");
  EXPECT_EQ(faults("{appRef: {}, environments: []}"), "spec.appRef.kind spec.appRef.name spec.environments");
  EXPECT_EQ(faults(with_environments("{}")), "spec.environments[0].name spec.environments[0].targets");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: []}")), "spec.environments[0].targets");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{}]}")), "spec.environments[0].targets[0].namespace");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: web}]}")), "");
}

TEST(PipelineCheck, names_and_targets_stand_once) {
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a}]}, {name: dev, targets: [{namespace: b}]}")),
            "spec.environments[1].name");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a}]}, {name: prod, targets: [{namespace: a}]}")),
            "spec.environments[1].targets[0]");
  const std::string eu = "clusterRef: {kind: GitopsCluster, name: eu}";
  const std::string home_eu = "clusterRef: {kind: GitopsCluster, name: eu, namespace: home}";
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a}, {namespace: a, " + eu + "}]}")), "");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a, " + home_eu + "}, {namespace: a, " + eu + "}]}")),
            "spec.environments[0].targets[1]");
}

TEST(PipelineCheck, environments_are_a_graph_without_circles) {
  const auto two = [](const std::string& first, const std::string& second) {
    return faults(with_environments("{name: a, targets: [{namespace: a}]" + first + "}, {name: b, targets: [{namespace: b}]" +
                                    second + "}"));
  };
  EXPECT_EQ(two("", ", dependsOn: [a]"), "");
  EXPECT_EQ(two("", ", dependsOn: []"), "");
  EXPECT_EQ(two(", dependsOn: [b]", ", dependsOn: []"), "");
  EXPECT_EQ(two(", dependsOn: [b]", ""), "spec.environments");
  EXPECT_EQ(two("", ", dependsOn: [b]"), "spec.environments");
  EXPECT_EQ(two("", ", dependsOn: [c]"), "spec.environments[1].dependsOn[0]");
  EXPECT_EQ(two("", ", dependsOn: [a, a]"), "spec.environments[1].dependsOn[1]");
}

TEST(PipelineCheck, one_strategy_promotes) {
  const auto promoted = [](const std::string& promotion) {
    return faults(
        "{appRef: {kind: HelmRelease, name: web}, environments: [{name: dev, targets: [{namespace: a}]}], promotion: " +
        promotion + "}");
  };
  const std::string request = "pull-request: {type: github, url: 'https://git.example/a', baseBranch: main}";
  EXPECT_EQ(promoted("{manual: true}"), "");
  EXPECT_EQ(promoted("{strategy: {" + request + "}}"), "");
  EXPECT_EQ(promoted("{" + request + "}"), "");
  EXPECT_EQ(promoted("{strategy: {notification: {}, secretRef: {name: key}}}"), "");
  EXPECT_EQ(promoted("{strategy: {notification: {}, " + request + "}}"), "spec.promotion.strategy");
  EXPECT_EQ(promoted("{strategy: {notification: {}}, " + request + "}"), "spec.promotion.strategy");
  EXPECT_EQ(promoted("{strategy: {secretRef: {name: key}}}"), "spec.promotion.strategy");
  EXPECT_EQ(promoted("{strategy: {pull-request: {type: sourceforge, url: 'https://a', baseBranch: main}}}"),
            "spec.promotion.strategy.pull-request.type");
  EXPECT_EQ(promoted("{strategy: {pull-request: {type: github, url: 'git@a:b', baseBranch: main}}}"),
            "spec.promotion.strategy.pull-request.url");
  for (const char* url : {"https://git.example/a", "ssh://git@git.example/a", "git@git.example:a/b.git", "/srv/git/a"}) {
    EXPECT_EQ(promoted(fmt::format("{{strategy: {{commit: {{url: '{}', baseBranch: main}}}}}}", url)), "") << url;
  }
  for (const char* url : {"nonsense", "a/b:c", "gopher://a"}) {
    EXPECT_EQ(promoted(fmt::format("{{strategy: {{commit: {{url: '{}', baseBranch: main}}}}}}", url)),
              "spec.promotion.strategy.commit.url")
        << url;
  }
}

TEST(PipelineCheck, references_can_be_read) {
  const auto app = [](const std::string& ref) {
    return faults("{appRef: " + ref + ", environments: [{name: dev, targets: [{namespace: a}]}]}");
  };
  EXPECT_EQ(app("{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web}"), "");
  EXPECT_EQ(app("{apiVersion: a/b/c, kind: HelmRelease, name: web}"), "spec.appRef.apiVersion");
  EXPECT_EQ(app("{kind: HelmRelease, name: 'a b'}"), "spec.appRef.name");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: A}]}")), "spec.environments[0].targets[0].namespace");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a, clusterRef: {kind: Cluster, name: x}}]}")),
            "spec.environments[0].targets[0].clusterRef.kind");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a}], gates: [{name: soak}]}")),
            "spec.environments[0].gates[0]");
  const std::string gate = "gates: [{name: go, approval: {}, at: ";
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a}], " + gate + "before}]}")), "");
  EXPECT_EQ(faults(with_environments("{name: dev, targets: [{namespace: a}], " + gate + "pre-traffic}]}")),
            "spec.environments[0].gates[0].at");
}

TEST(PipelineCheck, a_cluster_has_one_way_to_its_kubeconfig) {
  EXPECT_TRUE(check(GitopsClusterSpec{.secret = SecretRef{.name = "a"}}).empty());
  EXPECT_TRUE(check(GitopsClusterSpec{.capi_cluster = SecretRef{.name = "a"}}).empty());
  EXPECT_EQ(check(GitopsClusterSpec{}).size(), 1U);
  EXPECT_EQ(check(GitopsClusterSpec{.capi_cluster = SecretRef{.name = "a"}, .secret = SecretRef{.name = "a"}}).size(), 1U);
}

/// What an object of the corpus comes back as; "refused: …" with the fields when it is not accepted.
std::string stored(const Value& object) {
  if (object["kind"].as_string() != kPipelineKind.kind || object["apiVersion"].as_string() != kPipelineKind.api_version()) {
    const auto again = json::parse_yaml(json::print_yaml(object));
    return again ? json::print(*again) : again.error().message;
  }
  const auto spec = json::decode<PipelineSpec>(object["spec"], "spec");
  if (!spec) return "refused: " + spec.error().message;
  const bool is_template = json::print(object).find("${") != std::string::npos;
  if (!is_template && !check(*spec, "default").empty()) return "refused: " + check(*spec, "default").front().field;
  const Value again = object.with("spec", json::encode(*spec));
  return again == object ? json::print(object) : json::print(again);
}

void collect(const Value& value, std::vector<Value>& objects) {
  objects.push_back(value);
  for (const Value& part : value["spec"]["resourcetemplates"].items()) {
    for (const Value& object : part["content"].items()) collect(object, objects);
  }
}

TEST(PipelinesCorpus, objects_of_weave_gitops_are_accepted_and_read_back_equal) {
  std::vector<CorpusFile> files = corpus_folder("weave-gitops-docs");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  std::ranges::move(corpus_folder("weave-gitops-enterprise"), std::back_inserter(files));
  CountedSuite suite("pipeline/pipelines");
  for (const CorpusFile& file : files) {
    const auto documents = json::parse_yaml_all(file.text);
    if (const auto tab = file.text.find("\n\t"); tab != std::string::npos) {
      const auto line = 2 + std::ranges::count(file.text.substr(0, tab), '\n');
      const bool is_named = !documents && documents.error().message.find(fmt::format("line {}", line)) != std::string::npos;
      suite.count(is_named);
      EXPECT_TRUE(is_named) << file.name << ": " << (documents ? "accepted" : documents.error().message);
      continue;
    }
    ASSERT_TRUE(documents.has_value()) << file.name;
    std::vector<Value> objects;
    for (const json::YamlDocument& document : *documents) collect(document.value, objects);
    for (const Value& object : objects) {
      // The documentation shows parts of pipelines too; these lack what is mandatory.
      const bool is_part = object["kind"].as_string() == kPipelineKind.kind && !object["spec"].has("appRef");
      const std::string again = stored(object);
      const bool has_passed = is_part ? again.find("spec.appRef") != std::string::npos : again == json::print(object);
      suite.count(has_passed);
      EXPECT_TRUE(has_passed) << file.name << ": " << again;
    }
  }
}

TEST(PipelinesCorpus, gitops_clusters_have_the_fields_of_their_definition) {
  const auto text = corpus_file("pipelines/weave-gitops-enterprise/charts__cluster-controller__crds__gitopscluster-crd.yaml");
  if (!text) GTEST_SKIP() << "no corpus";
  const auto definition = json::parse_yaml(*text);
  ASSERT_TRUE(definition.has_value());
  const Value& version = (*definition)["spec"]["versions"].item(0);
  EXPECT_EQ(version["name"].as_string(), kGitopsClusterKind.version);
  EXPECT_EQ((*definition)["spec"]["group"].as_string(), kGitopsClusterKind.group);
  std::set<std::string> theirs;
  for (const auto& [name, schema] : version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].members()) {
    theirs.emplace(name);
  }
  std::set<std::string> ours;
  for (const json::Description& field : json::describe<GitopsClusterSpec>().fields) ours.insert(field.name);
  EXPECT_EQ(ours, theirs);
}

}  // namespace
}  // namespace slipway::delivery::pipeline

// PackageVariantSets: which variants they make, and that they take back what they no longer want.
#include <fmt/format.h>

#include <cstdlib>

#include "variant_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

class VariantSets : public Packages {
 public:
  void SetUp() override {
    Packages::SetUp();
    add_repository("blueprints");
    publish("blueprints", "web", "v1", {});
    for (const char* name : {"edge-1", "edge-2"}) add_repository(name, Deployment::Yes, "{tier: edge, region: north}");
  }

  void set(std::string_view targets) {
    make(fmt::format(R"(
apiVersion: config.porch.kpt.dev/v1alpha2
kind: PackageVariantSet
metadata: {{name: fleet}}
spec:
  upstream: {{repo: blueprints, package: web, revision: 1}}
  targets: {}
)",
                     targets));
    advance(seconds{5});
  }
  std::vector<std::string> variants() {
    std::vector<std::string> names;
    for (const Value& one : list(kHub, kVariants, "default")) names.emplace_back(kube::name(one));
    return names;
  }
  using Names = std::vector<std::string>;
};

TEST_F(VariantSets, makes_a_variant_for_each_repository_that_it_selects_also_for_later_ones) {
  set("[{repositorySelector: {matchLabels: {tier: edge}}}]");
  EXPECT_EQ(variants(), (Names{"fleet-edge-1-web", "fleet-edge-2-web"}));
  EXPECT_EQ(lifecycle("edge-2.web.packagevariant-1"), "Draft");
  EXPECT_EQ(condition_in(get(kHub, kVariantSets, "fleet"), "Ready"), "True Reconciled");
  add_repository("edge-3", Deployment::Yes, "{tier: edge}");
  EXPECT_TRUE(until([&] { return lifecycle("edge-3.web.packagevariant-1") == "Draft"; }, minutes{1}));
}

TEST_F(VariantSets, makes_packages_by_name_and_for_any_objects_with_expressions) {
  make("{apiVersion: v1, kind: ConfigMap, metadata: {name: edge-2, labels: {site: s9}}}");
  set(R"([{repositories: [{name: edge-1, packageNames: [a, b]}]},
          {objectSelector: {apiVersion: v1, kind: ConfigMap, matchLabels: {site: s9}},
           template: {downstream: {packageExpr: "packageDefault + '-' + target.labels['site']"},
                      labelExprs: [{key: region, valueExpr: "repository.labels['region']"}],
                      packageContext: {dataExprs: [{keyExpr: "'site'", valueExpr: "target.labels['site']"}]}}}])");
  EXPECT_EQ(variants(), (Names{"fleet-edge-1-a", "fleet-edge-1-b", "fleet-edge-2-web-s9"}));
  const std::string name = "edge-2.web-s9.packagevariant-1";
  ASSERT_TRUE(until([&] { return lifecycle(name) == "Draft"; }, minutes{1}));
  EXPECT_EQ(kube::label(revision(name), "region"), "north");
  EXPECT_TRUE(files(name)["package-context.yaml"].contains("site: s9"));
}

TEST_F(VariantSets, takes_back_what_its_targets_no_longer_name) {
  set("[{repositorySelector: {matchLabels: {tier: edge}}}]");
  set("[{repositories: [{name: edge-1}]}]");
  EXPECT_TRUE(until([&] { return variants() == Names{"fleet-edge-1-web"}; }, minutes{1}));
  EXPECT_TRUE(until([&] { return lifecycle("edge-2.web.packagevariant-1").empty(); }, minutes{1}));
  EXPECT_EQ(lifecycle("edge-1.web.packagevariant-1"), "Draft");
}

TEST_F(VariantSets, an_expression_that_fails_changes_nothing) {
  set("[{repositorySelector: {matchLabels: {tier: edge}}}]");
  set("[{repositorySelector: {matchLabels: {tier: edge}}, template: {downstream: {packageExpr: \"target.labels['nope']\"}}}]");
  EXPECT_EQ(variants(), (Names{"fleet-edge-1-web", "fleet-edge-2-web"}));
  EXPECT_EQ(condition_in(get(kHub, kVariantSets, "fleet"), "Stalled"), "True UnexpectedError");
}

/// SLIPWAY_FAN_OUT=1000 for the whole.
TEST_F(VariantSets, many_targets_have_one_draft_each_also_when_the_process_dies_meanwhile) {
  const char* wanted = std::getenv("SLIPWAY_FAN_OUT");
  const int half = (wanted != nullptr ? std::atoi(wanted) : 60) / 2;
  std::string names;
  for (int i = 0; i < half; ++i) names += fmt::format("{}p{}", i == 0 ? "" : ", ", i);
  set(fmt::format("[{{repositories: [{{name: edge-1, packageNames: [{0}]}}, {{name: edge-2, packageNames: [{0}]}}]}}]", names));
  restart();
  const auto all = static_cast<std::size_t>(2 * half);
  EXPECT_TRUE(until([&] { return revisions("Draft").size() >= all; }, minutes{10}));
  advance(minutes{1});
  EXPECT_EQ(revisions("Draft").size(), all);
  for (const Value& one : list(kHub, kRevisions, "default")) {
    if (one["spec"]["lifecycle"].as_string() == "Draft") EXPECT_EQ(condition_in(one, "Drafted"), "True Drafted");
  }
}

TEST_F(VariantSets, its_variants_go_with_it) {
  set("[{repositories: [{name: edge-1}]}]");
  remove(kHub, kVariantSets, "fleet");
  EXPECT_TRUE(until([&] { return variants().empty() && lifecycle("edge-1.web.packagevariant-1").empty(); }, minutes{2}));
}

}  // namespace
}  // namespace slipway::package_test

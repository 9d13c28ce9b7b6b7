#include "delivery/package/fan_out.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/program.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

VariantSetSpec set_of(std::string_view text) {
  auto read = json::decode<VariantSetSpec>(yaml(text), "spec");
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  return read ? *read : VariantSetSpec{};
}

FanOutView view() {
  FanOutView out{.name = "upf"};
  for (const char* name : {"edge-1", "edge-2", "west"}) {
    out.repositories.push_back(yaml(fmt::format("{{metadata: {{name: {}, namespace: default, labels: {{site: {}}}}}}}", name,
                                                std::string_view(name).starts_with("edge") ? "edge" : "core")));
  }
  out.upstream = yaml("{metadata: {name: catalog.upf.v3, namespace: default, labels: {tier: gold}}}");
  return out;
}

std::string listed(const Result<std::vector<WantedVariant>>& wanted) {
  if (!wanted) return wanted.error().message;
  std::string out;
  for (const WantedVariant& one : *wanted)
    out += fmt::format("{}={}/{} ", one.name, one.downstream().repo, one.downstream().package);
  return out;
}

constexpr std::string_view kUpstream = "upstream: {repo: catalog, package: upf, revision: 3}\n";

TEST(PackageFanOut, the_three_ways_to_name_targets) {
  FanOutView some = view();
  some.selected = {{}, {}, {yaml("{metadata: {name: west, labels: {on: yes-please}}}"), yaml("{metadata: {name: edge-1}}")}};
  const VariantSetSpec set = set_of(std::string(kUpstream) + R"(
targets:
- repositories: [{name: west}, {name: edge-1, packageNames: [upf-a, ran/upf-b]}]
- repositorySelector: {matchLabels: {site: edge}}
- objectSelector: {apiVersion: v1, kind: ConfigMap, matchLabels: {on: yes-please}}
  template: {downstream: {package: other}}
)");
  EXPECT_EQ(listed(unroll(set, some)),
            "upf-west-upf=west/upf upf-edge-1-upf-a=edge-1/upf-a upf-edge-1-ran-upf-b-" +
                variant_name("upf", {"edge-1", "ran/upf-b"}).substr(21) +
                "=edge-1/ran/upf-b upf-edge-1-upf=edge-1/upf upf-edge-2-upf=edge-2/upf upf-west-other=west/other ");
}

TEST(PackageFanOut, expressions_see_their_variables) {
  const VariantSetSpec set = set_of(std::string(kUpstream) + R"(
targets:
- repositorySelector: {matchLabels: {site: edge}}
  template:
    downstream: {packageExpr: "target.name + '-' + packageDefault"}
    adoptionPolicy: adoptExisting
    deletionPolicy: orphan
    labels: {site: none, fixed: a}
    labelExprs: [{key: site, valueExpr: "repository.labels['site']"}, {keyExpr: "'tier-' + upstream.labels.tier", value: b}]
    annotations: {config.porch.kpt.dev/auto-lifecycle-mgmt: "true"}
    packageContext:
      data: {a: b}
      dataExprs: [{key: repo, valueExpr: repoDefault}]
      removeKeys: [z]
      removeKeyExprs: ["repository.name"]
    injectors: [{kind: WorkloadCluster, nameExpr: target.name}]
    pipeline:
      mutators: [{image: set-labels, configMap: {x: "1"}, configMapExprs: [{key: x, valueExpr: "upstream.name"}]}]
)");
  const auto wanted = unroll(set, view());
  ASSERT_TRUE(wanted.has_value()) << wanted.error().message;
  ASSERT_EQ(wanted->size(), 2U);
  EXPECT_EQ(json::encode(wanted->front().spec), yaml(R"(
upstream: {repo: catalog, package: upf, revision: 3}
downstream: {repo: edge-1, package: edge-1-upf}
adoptionPolicy: adoptExisting
deletionPolicy: orphan
labels: {fixed: a, site: edge, tier-gold: b}
annotations: {config.porch.kpt.dev/auto-lifecycle-mgmt: "true"}
packageContext: {data: {a: b, repo: edge-1}, removeKeys: [edge-1, z]}
pipeline: {mutators: [{image: set-labels, configMap: {x: catalog.upf.v3}}]}
injectors: [{kind: WorkloadCluster, name: edge-1}]
)"));
}

TEST(PackageFanOut, a_repository_that_is_named_is_a_target_with_repo_and_package) {
  const VariantSetSpec set = set_of(std::string(kUpstream) +
                                    "targets: [{repositories: [{name: west}], template: {downstream: {packageExpr: "
                                    "\"target.repo + '-' + target.package\"}}}]");
  EXPECT_EQ(listed(unroll(set, view())), "upf-west-west-upf=west/west-upf ");
}

struct BadRow {
  const char* made_as;
  const char* said;
};

TEST(PackageFanOut, one_expression_that_fails_changes_nothing_and_names_its_place) {
  for (const BadRow& row :
       {BadRow{"{downstream: {repoExpr: \"'no' + 'where'\"}}", "spec.targets[0]: repository \"nowhere\" could not be loaded"},
        BadRow{"{labelExprs: [{key: a, valueExpr: \"target.labels['x']\"}]}",
               "spec.targets[0]: template.labelExprs[0].valueExpr: no such key: x"},
        BadRow{"{labelExprs: [{key: a, valueExpr: \"1 + 1\"}]}",
               "spec.targets[0]: template.labelExprs[0].valueExpr: expression returned non-string value"},
        BadRow{"{injectors: [{nameExpr: \"repository.name\"}, {nameExpr: \"size(target.name) == 1 ? 'a' : x\"}]}",
               "spec.targets[0]: template.injectors[1].nameExpr: ERROR: <input>:1:32: undeclared reference to 'x' (in "
               "container '')"}}) {
    const VariantSetSpec set = set_of(
        std::string(kUpstream) + "targets: [{repositorySelector: {matchLabels: {site: core}}, template: " + row.made_as + "}]");
    const auto wanted = unroll(set, view());
    ASSERT_FALSE(wanted.has_value()) << row.made_as;
    EXPECT_TRUE(wanted.error().message.starts_with(row.said)) << wanted.error().message;
  }
}

TEST(PackageFanOut, an_expression_that_never_ends_is_cut_off) {
  const VariantSetSpec set =
      set_of(std::string(kUpstream) + "targets: [{repositories: [{name: west}], template: {downstream: " +
             "{packageExpr: \"[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, "
             "[0,1,2,3,4,5,6,7,8,9].map(c, [0,1,2,3,4,5,6,7,8,9].map(d, [0,1,2,3,4,5,6,7,8,9].map(e, "
             "[0,1,2,3,4,5,6,7,8,9].map(f, a)))))).size() > 0 ? 'a' : 'b'\"}}}]");
  const auto wanted = unroll(set, view());
  ASSERT_FALSE(wanted.has_value());
  EXPECT_TRUE(wanted.error().message.ends_with(cel::kCostExceeded)) << wanted.error().message;
}

TEST(PackageFanOut, faults_have_porchs_words) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(check(set_of("{}")),
            (Texts{"spec.upstream is a required field", "must specify at least one item in spec.targets"}));
  EXPECT_EQ(check(set_of("{upstream: {}, targets: [{}]}")),
            (Texts{"spec.upstream.package is a required field", "spec.upstream.repo is a required field",
                   "spec.upstream.revision is a required field",
                   "spec.targets[0] must specify one of `repositories`, `repositorySelector`, or `objectSelector`"}));
  EXPECT_EQ(
      check(set_of(std::string(kUpstream) + R"(
targets:
- repositories: [{name: "", packageNames: [""]}]
  objectSelector: {}
  template:
    downstream: {repo: a, repoExpr: b, package: c, packageExpr: d}
    labelExprs: [{key: a, keyExpr: b, value: c, valueExpr: d}]
    injectors: [{name: a, nameExpr: b}, {}]
    pipeline: {validators: [{image: "", name: a.b}]}
)")),
      (Texts{"spec.targets[0].repositories[0].name cannot be empty",
             "spec.targets[0].repositories[0].packageNames[0] cannot be empty",
             "spec.targets[0].objectselector.apiVersion cannot be empty", "spec.targets[0].objectselector.kind cannot be empty",
             "spec.targets[0] must specify one of `repositories`, `repositorySelector`, or `objectSelector`",
             "spec.targets[0].template may specify only one of `downstream.repo` and `downstream.repoExpr`",
             "spec.targets[0].template may specify only one of `downstream.package` and `downstream.packageExpr`",
             "spec.targets[0].template.labelExprs[0] may specify only one of `key` and `keyExpr`",
             "spec.targets[0].template.labelExprs[0] may specify only one of `value` and `valueExpr`",
             "spec.targets[0].template.injectors[0] may specify only one of `name` and `nameExpr`",
             "spec.targets[0].template.injectors[1] must specify either `name` or `nameExpr`",
             "spec.targets[0].template.pipeline.validators[0].image must not be empty",
             "spec.targets[0].template.pipeline.validators[0].name must not contain '.'"}));
}

TEST(PackageFanOut, names_fit_and_differ) {
  EXPECT_EQ(variant_name("s", {"r", "p"}), "s-r-p");
  const std::string longest = variant_name(std::string(60, 's'), {"r", "p"});
  EXPECT_LE(longest.size(), 63U);
  EXPECT_NE(variant_name("s", {"r", "a/b"}), variant_name("s", {"r", "a-b"}));
  EXPECT_NE(longest, variant_name(std::string(60, 's'), {"r", "q"}));
}

WantedVariant made(std::string name, std::string repo, std::string package, std::int64_t revision) {
  return {.name = std::move(name),
          .spec = {.upstream = Upstream{.repo = "c", .package = "p", .revision = revision},
                   .downstream = Downstream{std::move(repo), std::move(package)}}};
}

TEST(PackageFanOut, variants_are_told_apart_by_their_package) {
  const VariantChanges is = changes({made("n1", "a", "p", 2), made("n2", "b", "p", 2), made("n3", "c", "p", 2)},
                                    {made("old", "a", "p", 1), made("same", "b", "p", 2), made("gone", "d", "p", 1)});
  ASSERT_EQ(is.create.size(), 1U);
  EXPECT_EQ(is.create[0].name, "n3");
  ASSERT_EQ(is.update.size(), 1U);
  EXPECT_EQ(is.update[0].name, "old");
  EXPECT_EQ(is.remove, std::vector<std::string>{"gone"});
}

TEST(PackageFanOut, a_thousand_targets_compile_each_expression_once) {
  FanOutView many = view();
  many.repositories.clear();
  for (int i = 0; i < 1000; ++i)
    many.repositories.push_back(json::object({{"metadata", json::object({{"name", fmt::format("r{}", i)}})}}));
  const VariantSetSpec set =
      set_of(std::string(kUpstream) +
             "targets: [{repositorySelector: {}, template: {downstream: {packageExpr: \"'p-' + target.name\"}}}]");
  const auto wanted = unroll(set, many);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->size(), 1000U);
  EXPECT_EQ(wanted->back().downstream().package, "p-r999");
}

}  // namespace
}  // namespace slipway::delivery::package

#include "delivery/package/kinds.h"

#include <gtest/gtest.h>

#include "cel/rules.h"
#include "delivery/package/function_config.h"
#include "delivery/package/kind.h"
#include "delivery/package/policy_spec.h"
#include "delivery/package/rollout_status.h"
#include "delivery/package/spec.h"
#include "delivery/package/status.h"
#include "delivery/package/variant_set_spec.h"
#include "json/text.h"
#include "json/text_test.h"
#include "kube/table.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// What is decoded and encoded again is what was written.
template <class T>
void round_trips(std::string_view text) {
  const Value written = yaml(text);
  const auto read = json::decode<T>(written);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(json::encode(*read), written) << json::print_pretty(json::encode(*read));
}

TEST(PackageKinds, requests_of_porchs_clients_decode_and_encode_as_written) {
  round_trips<RevisionSpec>(R"(
packageName: network/basens
repository: edge
workspaceName: v1
revision: 0
lifecycle: Draft
tasks:
- type: clone
  clone:
    upstreamRef: {upstreamRef: {name: blueprints.basens.v3}}
)");
  round_trips<RevisionSpec>(R"(
packageName: basens
repository: edge
workspaceName: v2
revision: 2
lifecycle: Published
tasks:
- type: upgrade
  upgrade:
    oldUpstreamRef: {name: blueprints.basens.v1}
    newUpstreamRef: {name: blueprints.basens.v2}
    localPackageRevisionRef: {name: edge.basens.v1}
    strategy: copy-merge
readinessGates: [{conditionType: nephio.org.Specializer.specialize}]
packageMetadata: {labels: {a: b}}
)");
  round_trips<RevisionSpec>(R"(
packageName: basens
repository: edge
workspaceName: v3
revision: 0
tasks:
- type: clone
  clone:
    upstreamRef: {type: git, git: {repo: "file:///r.git", ref: main, directory: basens}}
)");
  round_trips<ResourcesStatus>(R"(
renderStatus:
  result: {exitCode: 1, items: [{image: set-labels, stderr: "no", exitCode: 1, results: [{message: m, severity: error}]}]}
  error: failed
files: 2
)");
}

TEST(PackageKinds, tasks_that_porch_has_given_up_are_refused_with_the_place) {
  const auto read = json::decode<RevisionSpec>(yaml("{packageName: a, tasks: [{type: patch}]}"), "spec");
  ASSERT_FALSE(read.has_value());
  ASSERT_EQ(read.error().causes.size(), 1U);
  EXPECT_EQ(read.error().causes[0].field, "spec.tasks[0].type");
}

TEST(PackageKinds, conditions_keep_what_porch_writes_and_ours_is_left_out_when_unset) {
  round_trips<RevisionStatus>(R"(
publishedBy: alice
publishTimestamp: "2026-01-02T03:04:05Z"
deployment: true
conditions: [{type: a, status: "True", reason: R, message: m}]
latest: true
)");
}

TEST(PackageKinds, tables_have_porchs_columns_and_ready) {
  const Value revision = yaml(R"(
metadata: {name: edge.basens.v1, namespace: default}
spec: {packageName: basens, repository: edge, workspaceName: v1, revision: 0, lifecycle: Draft}
status: {latest: false, ready: 1/2}
)");
  const auto printed = [](kube::ResourceType type, const Value& object) {
    type.is_custom = true;  // as the registry makes it
    const std::vector<Value> objects{object};
    return kube::print_table(kube::make_table(type, objects, Time{}));
  };
  EXPECT_EQ(printed(revision_type(), revision),
            "NAME             PACKAGE   WORKSPACENAME   REVISION   LATEST   LIFECYCLE   REPOSITORY   READY\n"
            "edge.basens.v1   basens    v1              0          false    Draft       edge         1/2\n");
  EXPECT_EQ(printed(resources_type(), revision.with("status", yaml("{files: 3}"))),
            "NAME             PACKAGE   WORKSPACENAME   REVISION   REPOSITORY   FILES\n"
            "edge.basens.v1   basens    v1              0          edge         3\n");
  EXPECT_EQ(printed(package_type(), yaml("{metadata: {name: edge.basens}, spec: {packageName: basens, repository: edge}, "
                                         "status: {latestRevision: 2}}")),
            "NAME          PACKAGE   REPOSITORY   LATEST REVISION\n"
            "edge.basens   basens    edge         2\n");
}

TEST(PackageKinds, definitions_are_complete_and_a_server_gets_the_log_beside_them) {
  std::vector<std::string> names;
  for (const Value& one : definitions()) names.push_back(one["metadata"]["name"].str());
  EXPECT_EQ(names, (std::vector<std::string>{"repositories.config.porch.kpt.dev", "packagevariants.config.porch.kpt.dev",
                                             "packagevariantsets.config.porch.kpt.dev", "functionconfigs.config.porch.kpt.dev",
                                             "approvalpolicies.packages.slipway.dev", "packagerollouts.packages.slipway.dev"}));
  EXPECT_EQ(installed_definitions().size(), definitions().size() + 1);
  const Value schema = definitions()[0]["spec"]["versions"].item(0)["schema"]["openAPIV3Schema"];
  EXPECT_EQ(schema["x-kubernetes-validations"].size(), 7U);
  EXPECT_EQ(schema["x-kubernetes-validations"].item(3)["rule"].as_string(),
            "!has(oldSelf.spec.git) || (has(self.spec.git) && has(self.spec.git.repo) && self.spec.git.repo == "
            "oldSelf.spec.git.repo)");
  EXPECT_EQ(schema["properties"]["spec"]["properties"]["git"]["properties"]["branch"]["default"].as_string(), "main");
}

TEST(PackageKinds, rules_of_repositories_and_functions_hold) {
  const auto judged = [](std::size_t which, std::string_view object, std::string_view old) {
    const Value schema = definitions()[which]["spec"]["versions"].item(0)["schema"]["openAPIV3Schema"];
    std::vector<Cause> causes;
    const auto rules = cel::SchemaRules::compile(schema, "", causes, true, cel::SchemaRules::Costs::Estimated);
    EXPECT_TRUE(rules != nullptr && causes.empty()) << (causes.empty() ? "" : causes[0].message);
    if (rules) rules->validate(yaml(object), old.empty() ? Value() : yaml(old), causes);
    std::vector<std::string> said;
    for (const Cause& cause : causes) said.push_back(cause.message);
    return said;
  };
  constexpr std::string_view kEdge = "{metadata: {name: edge}, spec: {type: git, git: {repo: r, branch: main, directory: d}}}";
  using Said = std::vector<std::string>;
  EXPECT_EQ(judged(0, kEdge, ""), Said{});
  EXPECT_EQ(judged(0, kEdge, kEdge), Said{});
  EXPECT_EQ(judged(0, "{metadata: {name: a.b}, spec: {}}", ""),
            Said{"Invalid value: \"object\": metadata.name must conform to the RFC1123 DNS label standard"});
  EXPECT_EQ(judged(0, "{metadata: {name: edge}, spec: {type: git, git: {repo: other, branch: main, directory: d}}}", kEdge),
            Said{"Invalid value: \"object\": spec.git.repo is immutable"});
  EXPECT_EQ(judged(0, "{metadata: {name: edge}, spec: {type: git}}", kEdge).size(), 3U);
  EXPECT_EQ(judged(3, "{metadata: {name: f}, spec: {image: set-labels}}", ""),
            Said{"Invalid value: \"object\": At least one configuration must be specified"});
  EXPECT_EQ(judged(3, "{metadata: {name: f}, spec: {image: a, goExecutor: {tags: [v1]}}}", ""), Said{});
}

TEST(PackageKinds, a_variant_set_of_the_documentation_decodes) {
  const auto read = json::decode<VariantSetSpec>(yaml(R"(
upstream: {repo: catalog, package: free5gc-upf, revision: 3}
targets:
- repositories: [{name: edge-1, packageNames: [upf-a, upf-b]}]
- objectSelector: {apiVersion: infra.nephio.org/v1alpha1, kind: WorkloadCluster, matchLabels: {site: edge}}
  template:
    downstream: {packageExpr: "target.name + '-upf'"}
    annotations: {config.porch.kpt.dev/auto-lifecycle-mgmt: "true"}
    labelExprs: [{key: site, valueExpr: "target.labels['site']"}]
    pipeline: {mutators: [{image: set-labels, configMapExprs: [{key: a, valueExpr: target.name}]}]}
    injectors: [{kind: WorkloadCluster, nameExpr: target.name}]
)"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->targets.size(), 2U);
  EXPECT_EQ(read->targets[1].variant->pipeline->mutators[0].config_exprs[0].value_expr, "target.name");
}

TEST(PackageKinds, every_field_is_in_the_table_of_the_documentation) {
  const std::string table = field_table();
  for (const char* field : {"spec.tasks", "spec.readinessGates", "spec.steps", "spec.approve", "spec.upstream"}) {
    EXPECT_NE(table.find(field), std::string::npos) << field;
  }
}

}  // namespace
}  // namespace slipway::delivery::package

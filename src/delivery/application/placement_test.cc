// Topologies over three clusters, and the steps that run when an application has no workflow.
#include <gtest/gtest.h>

#include "delivery/application/policy.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

const std::vector<ClusterEntry>& clusters() {
  static const std::vector<ClusterEntry> kClusters = {
      {"local", {}}, {"eu-1", {{"region", "eu"}, {"tier", "prod"}}}, {"eu-2", {{"region", "eu"}, {"tier", "dev"}}}};
  return kClusters;
}

std::vector<PolicySpec> topologies(std::string_view text) {
  std::vector<PolicySpec> made;
  const Value list = yaml(text);
  for (const Value& properties : list.items()) made.push_back({.name = "t", .type = "topology", .properties = properties});
  return made;
}

TEST(Topology, chooses_clusters) {
  struct Row {
    const char* rule;
    const char* properties;
    std::vector<Placement> expected;
  };
  const Row rows[] = {
      {"without a topology the hub", "[]", {{"local", ""}}},
      {"by name, in the order given", "[{clusters: [eu-2, local]}]", {{"eu-2", ""}, {"local", ""}}},
      {"by labels, all of which must match", "[{clusterLabelSelector: {region: eu, tier: dev}}]", {{"eu-2", ""}}},
      {"by labels, in the order of the clusters", "[{clusterLabelSelector: {region: eu}}]", {{"eu-1", ""}, {"eu-2", ""}}},
      {"no labels wanted: all", "[{clusterLabelSelector: {}}]", {{"local", ""}, {"eu-1", ""}, {"eu-2", ""}}},
      {"names win over labels", "[{clusters: [local], clusterLabelSelector: {region: eu}}]", {{"local", ""}}},
      {"a namespace alone is one of the hub", "[{namespace: prod}]", {{"local", "prod"}}},
      {"the namespace goes to every cluster",
       "[{clusters: [eu-1, eu-2], namespace: other}]",
       {{"eu-1", "other"}, {"eu-2", "other"}}},
      {"each pair of cluster and namespace once",
       "[{clusters: [eu-1]}, {clusterLabelSelector: {region: eu}}, {clusters: [eu-1], namespace: other}]",
       {{"eu-1", ""}, {"eu-2", ""}, {"eu-1", "other"}}},
      {"none is right where allowEmpty says so", "[{clusterLabelSelector: {region: us}, allowEmpty: true}]", {}},
  };
  for (const Row& row : rows) {
    const auto found = placements(topologies(row.properties), clusters());
    ASSERT_TRUE(found) << row.rule << ": " << found.error().message;
    EXPECT_EQ(*found, row.expected) << row.rule;
  }
}

TEST(Topology, refuses_what_cannot_be_placed) {
  const std::pair<const char*, const char*> rows[] = {
      {"[{clusters: [us-1]}]", "topology policy t: there is no cluster us-1"},
      {"[{clusters: []}]", "topology policy t: clusters is empty"},
      {"[{clusterLabelSelector: {region: us}}]", "topology policy t: no cluster has the labels of clusterLabelSelector"},
      {"[{cluster: local}]", R"(topology policy t: unknown field "properties.cluster")"},
      {"[null]", "topology policy t: properties must not be empty"},
  };
  for (const auto& [properties, message] : rows) {
    const auto found = placements(topologies(properties), clusters());
    ASSERT_FALSE(found) << properties;
    EXPECT_EQ(found.error().reason, Reason::Invalid);
    EXPECT_EQ(found.error().message, message);
  }
}

ApplicationSpec application(std::string_view text) {
  ApplicationSpec spec;
  const Value value = yaml(text);
  for (const Value& one : value["components"].items()) {
    ComponentSpec component;
    component.name = one["name"].str();
    component.type = one["type"].str();
    for (const Value& name : one["dependsOn"].items()) component.depends_on.push_back(name.str());
    spec.components.push_back(std::move(component));
  }
  for (const Value& one : value["policies"].items()) {
    spec.policies.push_back({.name = one["name"].str(), .type = one["type"].str(), .properties = one["properties"]});
  }
  return spec;
}

TEST(GeneratedSteps, follow_the_first_rule_that_gives_any) {
  struct Row {
    const char* rule;
    const char* spec;
    const char* steps;
  };
  const Row rows[] = {
      {"a deploy per topology with all overrides",
       "{components: [{name: a}], policies: [{name: o1, type: override}, {name: t1, type: topology}, {name: o2, type: "
       "override}, "
       "{name: t2, type: topology}, {name: g, type: garbage-collect}]}",
       "[{name: deploy-t1, type: deploy, properties: {policies: [o1, o2, t1]}}, "
       "{name: deploy-t2, type: deploy, properties: {policies: [o1, o2, t2]}}]"},
      {"one deploy where there are only overrides", "{components: [{name: a}], policies: [{name: o1, type: override}]}",
       "[{name: deploy, type: deploy, properties: {policies: [o1]}}]"},
      {"one deploy for objects that are referred to", "{components: [{name: a, type: ref-objects}, {name: b}]}",
       "[{name: deploy, type: deploy, properties: {policies: []}}]"},
      {"a step per environment of env-binding",
       "{components: [{name: a}], policies: [{name: e, type: env-binding, properties: {envs: [{name: x}, {name: z}]}}]}",
       "[{name: deploy-e-x, type: deploy2env, properties: {policy: e, env: x}}, "
       "{name: deploy-e-z, type: deploy2env, properties: {policy: e, env: z}}]"},
      {"else a step per component", "{components: [{name: a}, {name: b, dependsOn: [a]}], policies: [{name: d, type: debug}]}",
       "[{name: a, type: apply-component, properties: {component: a}}, "
       "{name: b, type: apply-component, properties: {component: b}, dependsOn: [a]}]"},
  };
  for (const Row& row : rows) EXPECT_EQ(generated_steps(application(row.spec)), yaml(row.steps)) << row.rule;
  ApplicationSpec rolled = application("{components: [{name: a}]}");
  rolled.rollout_plan = yaml("{numBatches: 2}");
  EXPECT_EQ(generated_steps(rolled), yaml("[{name: a, type: app-rollout, properties: {component: a, plan: {numBatches: 2}}}]"));
}

}  // namespace
}  // namespace slipway::delivery::application

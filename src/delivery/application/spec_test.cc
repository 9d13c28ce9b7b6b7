#include "delivery/application/spec.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

TEST(Spec, components_are_read_and_written_back) {
  const Value written = yaml(R"(
name: web
type: webservice@v2
externalRevision: web-v1
properties: {image: nginx}
dependsOn: [db]
inputs: [{from: conn, parameterKey: env.0}, {from: late}]
outputs: [{name: url, valueFrom: output.status.url}]
traits: [{type: scaler, properties: {replicas: 2}}, {type: expose}]
)");
  auto component = read_component(written, "c");
  ASSERT_TRUE(component.has_value()) << component.error().message;
  EXPECT_EQ(component->to_json(), written);
  EXPECT_TRUE(component->traits[1].properties.is_null());
  EXPECT_EQ(component->inputs[0].parameter_key, "env.0");
}

TEST(Spec, an_application_has_components_policies_and_a_workflow) {
  auto spec = read_application(yaml(R"(
components: [{name: a, type: worker, scopes: {}}]
policies: [{type: topology, properties: {clusters: [x]}}, {name: p, type: debug}]
workflow: {mode: {steps: DAG}, steps: [{type: deploy}]}
)"));
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_NE(spec->find("a"), nullptr);
  EXPECT_EQ(spec->find("b"), nullptr);
  EXPECT_EQ(spec->policies[0].name, "topology-auto-gen-0");
  EXPECT_TRUE(spec->has_workflow);
  EXPECT_EQ(spec->workflow_steps.size(), 1u);
  EXPECT_EQ(spec->workflow_mode["steps"].as_string(), "DAG");
  EXPECT_FALSE(read_application(yaml("{components: []}"))->has_workflow);
}

TEST(Spec, each_fault_has_its_place) {
  struct Row {
    const char* spec;
    const char* told;
  };
  const Row rows[] = {
      {"{components: [{type: worker}]}", "spec.components[0].name: Required value"},
      {"{components: [{name: a, type: x, properties: [1]}]}",
       "spec.components[0].properties: Invalid value: [1]: must be an object"},
      {"{components: [{name: a, type: x, traits: [{}]}]}", "spec.components[0].traits[0].type: Required value"},
      {"{components: [{name: a, type: x, dependsOn: [1]}]}",
       "spec.components[0].dependsOn[0]: Invalid value: 1: must be a string"},
      {"{components: {}}", "spec.components: Invalid value: {}: must be a list"},
      {"{components: [], policies: [{name: a}]}", "spec.policies[0].type: Required value"},
      {"[]", "spec: Invalid value: []: must be an object"},
  };
  for (const Row& row : rows) {
    auto spec = read_application(yaml(row.spec));
    ASSERT_FALSE(spec.has_value()) << row.spec;
    EXPECT_EQ(spec.error().reason, Reason::Invalid);
    EXPECT_EQ(spec.error().message, row.told) << row.spec;
    EXPECT_EQ(spec.error().causes.size(), 1u) << row.spec;
  }
}

TEST(Spec, admission_refuses_more_than_the_controller) {
  struct Row {
    const char* spec;
    const char* told;
  };
  const Row rows[] = {
      {"{components: [{name: a, type: x}, {name: a, type: x}]}", "spec.components[1].name: Duplicate value: \"a\""},
      {"{components: [], policies: [{name: a, type: debug}, {name: a, type: debug}]}",
       "spec.policies[1].name: Duplicate value: \"a\""},
      {"{components: [], policies: [{name: a, type: topology}]}", "spec.policies[0].properties: Required value"},
      {"{components: [], workflow: {ref: w, steps: [{type: deploy}]}}",
       "spec.workflow.steps: Forbidden: ref and steps exclude each other"},
  };
  for (const Row& row : rows) {
    auto spec = read_application(yaml(row.spec));
    ASSERT_TRUE(spec.has_value()) << spec.error().message;
    const std::vector<Cause> causes = check_application(*spec);
    ASSERT_EQ(causes.size(), 1u) << row.spec;
    EXPECT_EQ(causes[0].field + ": " + causes[0].message, row.told);
  }
  const auto empty = read_application(yaml("{components: [], policies: [{name: a, type: apply-once, properties: {}}]}"));
  EXPECT_TRUE(check_application(empty.value()).empty()) << "all parameters may have defaults";
}

}  // namespace
}  // namespace slipway::delivery::application

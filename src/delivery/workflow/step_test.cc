#include "delivery/workflow/step.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

Value yaml(const std::string& text) {
  auto value = json::parse_yaml(text);
  EXPECT_TRUE(value) << (value ? "" : value.error().message);
  return value.value_or(Value());
}

TEST(ReadSteps, decodes_every_field) {
  auto steps = read_steps(yaml(R"(
- name: a
  type: step-group
  if: always
  timeout: 1m
  mode: StepByStep
  subSteps:
  - type: x
  - {name: own, type: z, dependsOn: [step-0-0]}
- type: z
  meta: {alias: Last}
  stage: pre-render
  dependsOn: [a]
  inputs: [{from: v, parameterKey: p.q}]
  outputs: [{name: o, valueFrom: output.x}]
  properties: {k: 1}
  retry: {limit: 3, backoff: {duration: 2s, factor: 3, cap: 9s}}
)"),
                          Value(), "spec.steps");
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->mode, Mode::StepByStep);
  EXPECT_EQ(steps->sub_mode, Mode::DAG);
  const Step& group = steps->steps.at(0);
  EXPECT_EQ(group.condition, "always");
  EXPECT_EQ(group.timeout, "1m");
  EXPECT_EQ(group.mode, Mode::StepByStep);
  EXPECT_EQ(group.sub_steps.at(0).name, "step-0-0");
  EXPECT_EQ(group.sub_steps.at(1).name, "own");
  const Step& last = steps->steps.at(1);
  EXPECT_EQ(last.name, "step-1");
  EXPECT_EQ(last.alias, "Last");
  EXPECT_TRUE(last.is_pre_render);
  EXPECT_EQ(last.inputs.at(0).parameter_key, "p.q");
  EXPECT_EQ(last.outputs.at(0).value_from, "output.x");
  EXPECT_EQ(last.properties["k"].as_int(), 1);
  EXPECT_EQ(last.retry->limit, 3);
  EXPECT_EQ(last.retry->cap, std::chrono::seconds{9});
  EXPECT_EQ(steps->find("own"), &group.sub_steps.at(1));
  EXPECT_EQ(steps->find("nobody"), nullptr);
}

TEST(ReadSteps, a_component_name_stands_for_the_step_that_delivers_it) {
  auto steps = read_steps(yaml(R"([{name: s, type: t, properties: {component: db}}, {name: u, type: t, dependsOn: [db]}])"),
                          Value(), "steps");
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->depended_on("db")->name, "s");
}

struct Wrong {
  const char* steps;
  const char* field;
};

TEST(ReadSteps, names_the_place_of_each_fault) {
  const Wrong kWrong[] = {
      {"[{name: a}]", "steps[0].type"},
      {"[{name: a, type: t, unknown: 1}]", "steps[0].unknown"},
      {"[{name: a, type: t}, {name: a, type: t}]", "steps[1].name"},
      {"[{name: a, type: t, timeout: soon}]", "steps[0].timeout"},
      {"[{name: a, type: t, dependsOn: [b]}]", "steps[0].dependsOn[0]"},
      {"[{name: a, type: t, dependsOn: [a]}]", "steps[0].dependsOn[0]"},
      {"[{name: a, type: t, mode: Both}]", "steps[0].mode"},
      {"[{name: a, type: t, stage: never}]", "steps[0].stage"},
      {"[{name: a, type: t, subSteps: [{name: b, type: t}]}]", "steps[0].subSteps"},
      {"[{name: a, type: step-group, subSteps: [{name: b, type: step-group}]}]", "steps[0].subSteps[0].type"},
      {"[{name: a, type: t, inputs: [{parameterKey: x}]}]", "steps[0].inputs[0].from"},
      {"[{name: a, type: t, outputs: [{name: x}]}]", "steps[0].outputs[0].valueFrom"},
      {"[{name: a, type: t, properties: 1}]", "steps[0].properties"},
      {"[{name: a, type: t, retry: {limit: -1}}]", "steps[0].retry.limit"},
      {"{}", "steps"},
  };
  for (const Wrong& wrong : kWrong) {
    auto steps = read_steps(yaml(wrong.steps), Value(), "steps");
    ASSERT_FALSE(steps) << wrong.steps;
    EXPECT_EQ(steps.error().reason, Reason::Invalid);
    ASSERT_FALSE(steps.error().causes.empty()) << wrong.steps;
    EXPECT_EQ(steps.error().causes.at(0).field, wrong.field) << wrong.steps;
  }
  auto mode = read_steps(Value(), yaml("{steps: Both}"), "spec.workflow.steps");
  ASSERT_FALSE(mode);
  EXPECT_EQ(mode.error().causes.at(0).field, "spec.workflow.mode.steps");
}

}  // namespace
}  // namespace slipway::delivery::workflow

#include "delivery/workflow/step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

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

/// s0, s1 … in a graph, each with what depends on it.
Value chain(int count, const std::function<std::vector<std::string>(int)>& depends_on) {
  json::ArrayBuilder steps;
  for (int i = 0; i < count; ++i) {
    steps.add(json::object({{"name", fmt::format("s{}", i)}, {"type", "suspend"}, {"dependsOn", json::array(depends_on(i))}}));
  }
  return steps.build();
}

TEST(ReadSteps, of_ten_thousand_steps_in_a_chain_takes_a_pass_over_it) {
  const auto before = [](int i) { return i == 0 ? std::vector<std::string>() : std::vector{fmt::format("s{}", i - 1)}; };
  const auto steps = read_steps(chain(10'000, before), Value(), "steps");
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->steps.size(), 10'000U);
  const auto after = [](int i) { return std::vector{fmt::format("s{}", (i + 1) % 10'000)}; };
  const auto circle = read_steps(chain(10'000, after), Value(), "steps");
  ASSERT_FALSE(circle);
  EXPECT_EQ(circle.error().causes.size(), 10'000U);
}

TEST(ReadSteps, a_step_is_at_fault_only_when_it_waits_for_itself) {
  const auto steps =
      read_steps(yaml("[{name: a, type: t, dependsOn: [b, d]}, {name: b, type: t, dependsOn: [c]}, {name: c, type: "
                      "t, dependsOn: [a]}, {name: d, type: t}, {name: e, type: t, dependsOn: [a]}]"),
                 Value(), "steps");
  ASSERT_FALSE(steps);
  std::vector<std::string> fields;
  for (const Cause& cause : steps.error().causes) fields.push_back(cause.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"steps[0].dependsOn[0]", "steps[1].dependsOn[0]", "steps[2].dependsOn[0]"}));
}

TEST(ReadSteps, bounds_paths_and_the_number_of_inputs_and_outputs) {
  const auto fault = [](const Value& step) {
    const auto steps = read_steps(json::array({step}), Value(), "steps");
    return steps ? Cause() : steps.error().causes.front();
  };
  std::string deep = "a";
  for (int i = 0; i < 5000; ++i) deep += ".a";
  const Value step = json::object({{"name", "s"}, {"type", "t"}});
  const Value input = json::object({{"from", "context.name"}, {"parameterKey", deep}});
  const Value output = json::object({{"name", deep}, {"valueFrom", "context.name"}});
  EXPECT_EQ(fault(step.with("inputs", json::array({input}))).field, "steps[0].inputs[0].parameterKey");
  EXPECT_EQ(fault(step.with("outputs", json::array({output}))).field, "steps[0].outputs[0].name");
  const auto many = [](std::size_t count, const Value& one) { return json::array(std::vector<Value>(count, one)); };
  const Value plain = input.with("parameterKey", "x");
  EXPECT_EQ(fault(step.with("inputs", many(kMaxStepVariables, plain))).field, "");
  const Cause too_many = fault(step.with("inputs", many(kMaxStepVariables + 1, plain)));
  EXPECT_EQ(too_many.field, "steps[0].inputs");
  EXPECT_EQ(too_many.message, "Too many: 101: must have at most 100 items");
  EXPECT_EQ(fault(step.with("outputs", many(kMaxStepVariables + 1, output.with("name", "x")))).field, "steps[0].outputs");
}

}  // namespace
}  // namespace slipway::delivery::workflow

#include "delivery/rollout/settings.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

RolloutPlan plan_of(const char* yaml) {
  auto value = json::parse_yaml(yaml);
  EXPECT_TRUE(value) << yaml;
  auto plan = json::decode<RolloutPlan>(*value, "spec.rolloutPlan");
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? *plan : RolloutPlan{};
}

PlanSettings settings_of(const char* yaml) {
  auto read = read_plan(plan_of(yaml), wave::Shape::Pair);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : PlanSettings{};
}

TEST(PlanSettings, an_empty_plan_is_one_batch_of_everything) {
  const PlanSettings read = settings_of("{}");
  EXPECT_EQ(read.settings.num_batches, 1);
  EXPECT_EQ(read.settings.strategy, wave::Strategy::IncreaseFirst);
  EXPECT_EQ(read.settings.partition, std::nullopt);
  EXPECT_EQ(read.settings.batch_deadline, std::chrono::seconds{600});
  EXPECT_FALSE(read.settings.has_traffic);
}

TEST(PlanSettings, both_spellings_of_the_partition_are_read) {
  EXPECT_EQ(settings_of("{batchPartition: 2}").settings.partition, 2);
  EXPECT_EQ(settings_of("{lastBatchToRollout: 2}").settings.partition, 2);
  EXPECT_EQ(settings_of("{lastBatchToRollout: 2, batchPartition: 2}").settings.partition, 2);
}

TEST(PlanSettings, hooks_and_metrics_are_gates_of_their_moments) {
  const PlanSettings read = settings_of(
      "{rolloutWebhooks: [{type: initialize-rollout, name: a, url: 'http://x'}], canaryMetric: [{name: m, interval: 30s, "
      "metricsRange: {min: 1}}], rolloutBatches: [{replicas: 1, batchRolloutWebhooks: [{type: pre-batch-rollout, name: b, url: "
      "'http://y', method: PUT, expectedStatus: [204]}]}, {replicas: 50%}]}");
  ASSERT_EQ(read.settings.gates.size(), 1U);
  EXPECT_EQ(read.settings.gates[0].at, wave::Moment::Initialize);
  ASSERT_EQ(read.settings.batches.size(), 2U);
  ASSERT_EQ(read.settings.batches[0].gates.size(), 2U) << "those of the plan first";
  EXPECT_EQ(read.settings.batches[0].gates[0].name, "m");
  EXPECT_TRUE(read.settings.batches[0].gates[0].needs_new_pods);
  EXPECT_EQ(read.settings.batches[0].gates[1].at, wave::Moment::BeforeBatch);
  EXPECT_EQ(read.settings.batches[1].gates.size(), 1U);
  const gate::GateSpec* hook = read.find_gate("0/before/b");
  ASSERT_NE(hook, nullptr);
  EXPECT_EQ(hook->webhook->method, "PUT");
  EXPECT_EQ(read.find_gate("1/before/b"), nullptr);
  ASSERT_NE(read.find_gate("1/after/m"), nullptr);
  EXPECT_EQ(read.find_gate("1/after/m")->metric->interval, std::chrono::seconds{30});
  EXPECT_NE(read.find_gate("-/initialize/a"), nullptr);
}

TEST(PlanSettings, names_of_one_moment_are_told_apart) {
  const PlanSettings read = settings_of(
      "{gates: [{name: x, window: {rrule: FREQ=DAILY}}, {name: x, at: before, window: {rrule: FREQ=DAILY}}], rolloutBatches: "
      "[{gates: [{name: x, window: {rrule: FREQ=DAILY}}]}]}");
  std::vector<std::string> names;
  for (const wave::Gate& gate : read.settings.batches[0].gates) names.push_back(gate.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "x", "x#2"}));
}

TEST(PlanSettings, what_a_deadline_does_depends_on_who_is_asked) {
  const PlanSettings read = settings_of(
      "{gates: [{name: a, approval: {}}, {name: w, window: {rrule: FREQ=DAILY}}, {name: h, webhook: {url: 'http://x'}}, {name: "
      "p, approval: {}, onDeadline: pass}]}");
  std::vector<wave::OnDeadline> all;
  for (const wave::Gate& gate : read.settings.every_batch.gates) all.push_back(gate.on_deadline);
  using enum wave::OnDeadline;
  EXPECT_EQ(all, (std::vector<wave::OnDeadline>{Hold, Hold, Fail, Pass}));
}

TEST(PlanSettings, faults_name_their_places) {
  const std::pair<const char*, const char*> rows[] = {
      {"{batchPartition: 1, lastBatchToRollout: 2}", "spec.rolloutPlan.lastBatchToRollout"},
      {"{numBatches: 3, rolloutBatches: [{replicas: 1}]}", "spec.rolloutPlan.numBatches"},
      {"{rolloutBatches: [{replicas: many}]}", "spec.rolloutPlan.rolloutBatches[0].replicas"},
      {"{rolloutBatches: [{replicas: 1, podList: [a]}]}", "spec.rolloutPlan.rolloutBatches[0].podList"},
      {"{rolloutBatches: [{maxUnavailable: -1}]}", "spec.rolloutPlan.rolloutBatches[0].maxUnavailable"},
  };
  for (const auto& [yaml, field] : rows) {
    const auto read = read_plan(plan_of(yaml), wave::Shape::Pair);
    ASSERT_FALSE(read) << yaml;
    ASSERT_FALSE(read.error().causes.empty()) << yaml;
    EXPECT_EQ(read.error().causes[0].field, field) << yaml;
  }
}

}  // namespace
}  // namespace slipway::delivery::rollout

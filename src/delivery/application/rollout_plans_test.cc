#include "delivery/application/rollout_plans.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/application/naming.h"
#include "delivery/application/revision.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

TEST(RolloutPlans, are_no_part_of_what_a_revision_is_compared_by) {
  const char* same[] = {"{components: [{name: a, type: web}], rolloutPlan: {numBatches: 2}}",
                        "{components: [{name: a, type: web}], rolloutPlan: {targetSize: 4, paused: true}}",
                        "{components: [{name: a, type: web}]}",
                        "{components: [{name: a, type: web, traits: [{type: rollout, properties: {targetSize: 3}}]}]}",
                        "{components: [{name: a, type: web, traits: [{type: rollout@v2}]}]}"};
  for (const char* spec : same) EXPECT_EQ(json::print(without_plans(yaml(spec))), json::print(yaml(same[2]))) << spec;
  const char* others[] = {"{components: [{name: a, type: web, traits: [{type: rollout, properties: {targetRevision: a-v1}}]}]}",
                          "{components: [{name: a, type: web, traits: [{type: scaler, properties: {replicas: 3}}]}]}",
                          "{components: [{name: b, type: web}]}"};
  for (const char* spec : others) EXPECT_NE(without_plans(yaml(spec)), yaml(same[2])) << spec;
}

TEST(RolloutPlans, are_those_of_the_live_spec_where_both_have_one) {
  struct Row {
    const char* frozen;
    const char* live;
    const char* merged;
  };
  const Row rows[] = {
      {"{rolloutPlan: {numBatches: 1}}", "{rolloutPlan: {paused: true}}", "{rolloutPlan: {paused: true}}"},
      {"{rolloutPlan: {numBatches: 1}}", "{}", "{rolloutPlan: {numBatches: 1}}"},
      {"{}", "{rolloutPlan: {numBatches: 1}}", "{}"},
      {"{components: [{name: a, traits: [{type: rollout, properties: {targetRevision: r, targetSize: 1}}]}]}",
       "{components: [{name: a, traits: [{type: rollout, properties: {targetRevision: s, batchPartition: 0}}]}]}",
       "{components: [{name: a, traits: [{type: rollout, properties: {targetRevision: r, batchPartition: 0}}]}]}"},
      {"{components: [{name: a, traits: [{type: rollout, properties: {targetSize: 1}}]}]}", "{components: [{name: a}]}",
       "{components: [{name: a, traits: [{type: rollout, properties: {targetSize: 1}}]}]}"}};
  for (const Row& row : rows) EXPECT_EQ(with_plans_of(yaml(row.frozen), yaml(row.live)), yaml(row.merged)) << row.frozen;
}

TEST(RolloutPlans, after_the_end_wait_unless_they_scale) {
  const auto rollout = [](const char* target, const char* plan, const char* state) {
    return yaml(std::string("{spec: {targetAppRevisionName: ") + target + ", rolloutPlan: " + plan +
                "}, status: {rollingState: " + state + "}}");
  };
  const auto due = [&](const char* target, const char* plan, const char* state) {
    const Value live = rollout("a-v1", "{numBatches: 1, targetSize: 2, rolloutStrategy: IncreaseFirst}", state);
    const Value recorded = rollout("a-v1", "{numBatches: 1, targetSize: 2}", state).without("status");
    return with_due_plan(rollout(target, plan, state).without("status"), live, recorded)["spec"]["rolloutPlan"];
  };
  const Value kept = yaml("{numBatches: 1, targetSize: 2}");
  EXPECT_EQ(due("a-v1", "{numBatches: 3, targetSize: 2}", "rolloutSucceed"), kept);
  EXPECT_EQ(due("a-v1", "{numBatches: 3, targetSize: 2}", "rolloutFailed"), kept);
  EXPECT_NE(due("a-v1", "{numBatches: 3, targetSize: 5}", "rolloutSucceed"), kept) << "a scale";
  EXPECT_NE(due("a-v2", "{numBatches: 3, targetSize: 2}", "rolloutSucceed"), kept) << "another revision";
  EXPECT_NE(due("a-v1", "{numBatches: 3, targetSize: 2}", "rollingInBatches"), kept) << "it is under way";
}

/// As of before plans were left out: an upgrade makes no revision.
TEST(RolloutPlans, count_in_what_revisions_of_before_are_known_by) {
  const Value app = yaml("{metadata: {name: a, namespace: default}}");
  const Value spec = yaml("{components: [{name: a, type: web}], rolloutPlan: {numBatches: 2}}");
  const Parsed parsed;
  const std::string before = revision_hash(app, spec, parsed, false, PlanIn::Revision);
  const std::vector<std::string> known = known_hashes(app, spec, parsed, false);
  EXPECT_NE(known.front(), before);
  EXPECT_NE(std::ranges::find(known, before), known.end());
  EXPECT_EQ(known.front(), revision_hash(app, spec.without("rolloutPlan"), parsed, false));
  const Value plain = spec.without("rolloutPlan");
  EXPECT_EQ(revision_hash(app, plain, parsed, false), revision_hash(app, plain, parsed, false, PlanIn::Revision));
}

TEST(RolloutPlans, do_not_name_revisions_of_components_but_those_of_before) {
  const auto component = [](const char* properties) {
    return read_component(yaml(std::string("{name: a, type: web, traits: [{type: rollout, properties: ") + properties + "}]}"),
                          "")
        .value();
  };
  const ComponentSpec one = component("{targetSize: 1}"), other = component("{targetSize: 2}");
  EXPECT_EQ(component_revision(one), component_revision(other));
  EXPECT_NE(component_revision(one, PlanIn::Revision), component_revision(other, PlanIn::Revision));
  const Value spec = yaml(
      "{components: [{name: a, type: web, traits: [{type: rollout, properties: {targetSize: 1}}]}, {name: b, type: web}]}");
  const Value named = with_named_components(spec, names_with_plans(spec));
  EXPECT_EQ(named["components"].item(0)["externalRevision"].as_string(), component_revision(one, PlanIn::Revision));
  EXPECT_FALSE(named["components"].item(1).has("externalRevision"));
}

TEST(RolloutPlans, leave_the_name_of_before_to_a_component_that_has_not_changed) {
  const Value held = yaml(
      "{components: [{name: a, type: web, traits: [{type: rollout, properties: {targetSize: 1}}]}, {name: b, type: web, "
      "traits: "
      "[{type: rollout, properties: {targetSize: 1}}]}]}");
  const Value spec = yaml(
      "{components: [{name: a, type: web, traits: [{type: rollout, properties: {targetSize: 2}}]}, {name: b, type: web, "
      "properties: {image: new}, traits: [{type: rollout, properties: {targetSize: 1}}]}]}");
  const ComponentNames before = names_with_plans(held), kept = names_kept(before, held, spec);
  EXPECT_EQ(before.size(), 2U);
  EXPECT_EQ(kept, (ComponentNames{{"a", before.at("a")}}));
  EXPECT_EQ(names_kept(before, held, yaml("{components: []}")), ComponentNames{});
  const Value named = with_named_components(spec, kept);
  EXPECT_EQ(named["components"].item(0)["externalRevision"].as_string(), before.at("a"));
  EXPECT_FALSE(named["components"].item(1).has("externalRevision"));
}

}  // namespace
}  // namespace slipway::delivery::application

// docs/rollout.md says what is: its tables of fields and states are made from the described structs and the table of moves, and
// its examples end as they say. SLIPWAY_UPDATE=1 rewrites the tables.
#include <gtest/gtest.h>

#include "../docs/page.h"
#include "delivery/rollout/actions.h"
#include "delivery/rollout/kinds.h"
#include "delivery/rollout/plan.h"
#include "delivery/rollout/traffic.h"
#include "delivery/rollout/workload.h"
#include "delivery/wave/state.h"
#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

const docs_test::Page kPage("rollout.md", "rollout_test");

TEST(RolloutPage, has_the_fields_of_the_described_structs) { kPage.expect_table("fields", delivery::rollout::field_table()); }

TEST(RolloutPage, has_the_states_of_the_table_of_moves) { kPage.expect_table("states", delivery::wave::moves_table()); }

TEST(RolloutPage, has_the_providers_of_traffic) {
  kPage.expect_table("providers", delivery::rollout::traffic_provider_table());
}

TEST(RolloutPage, has_the_form_of_a_workload_row) { kPage.expect_table("row", delivery::rollout::workload_row_table()); }

TEST(RolloutPage, names_every_verb) {
  const std::string text = kPage.text();
  for (const delivery::Action& action : delivery::rollout::actions()) {
    EXPECT_TRUE(text.contains("slipway " + action.verb)) << action.verb;
  }
  EXPECT_TRUE(text.contains("slipway rollout plan -f"));
}

TEST(RolloutPage, prints_what_the_plan_command_prints) {
  ManualEnv env;
  delivery::CommandCall call{.env = env, .client = nullptr, .ns = "default", .words = {}, .objects = {}, .options = {}};
  const std::string manifests = kPage.examples_with_outcome().front().text;
  for (const auto& document : json::parse_yaml_all(manifests).value()) {
    call.objects.push_back({.object = document.value, .source = "shop.yaml"});
  }
  const auto answer = env.run(delivery::rollout::plan_command().run(std::move(call)));
  ASSERT_TRUE(answer) << answer.error().message;
  std::string indented = "    ";
  for (const char c : answer->text) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
  EXPECT_TRUE(kPage.text().contains(indented.substr(0, indented.size() - 4))) << answer->text;
}

using RolloutExamples = RolloutTest;

TEST_F(RolloutExamples, end_as_they_say) {
  const auto all = kPage.examples_with_outcome();
  EXPECT_GE(all.size(), 2U);
  apply("{apiVersion: v1, kind: Namespace, metadata: {name: vela-system}}");
  for (const auto& [outcome, text] : all) {
    auto documents = json::parse_yaml_all(text);
    ASSERT_TRUE(documents) << documents.error().message << "\n" << text;
    std::string name;
    for (const auto& document : *documents) {
      ASSERT_TRUE(apply(json::print_yaml(document.value))) << text;
      name = kube::name(document.value);
    }
    EXPECT_TRUE(until([&] { return get(kTraits, name)["status"]["rollingState"].as_string() == outcome; }))
        << json::print_pretty(get(kTraits, name)["status"]);
  }
}

}  // namespace
}  // namespace slipway::rollout_test

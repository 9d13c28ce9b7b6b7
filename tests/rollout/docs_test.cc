// docs/rollout.md says what is: its tables of fields and states are made from the described structs and the table of moves, and
// its examples end as they say. SLIPWAY_UPDATE=1 rewrites the tables.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "delivery/rollout/actions.h"
#include "delivery/rollout/kinds.h"
#include "delivery/rollout/plan.h"
#include "delivery/wave/state.h"
#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

std::string page_path() { return std::string(SLIPWAY_SOURCE_DIR) + "/docs/rollout.md"; }

std::string page() {
  std::ostringstream text;
  text << std::ifstream(page_path()).rdbuf();
  return text.str();
}

void expect_table(const std::string& name, const std::string& table) {
  const std::string begins = "<!-- " + name + ": made by rollout_test, SLIPWAY_UPDATE=1 rewrites them -->\n";
  const std::string text = page();
  const auto begin = text.find(begins);
  const auto end = text.find("<!-- end of " + name + " -->\n");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << name;
  const std::string found = text.substr(begin + begins.size(), end - begin - begins.size());
  if (found != table && std::getenv("SLIPWAY_UPDATE") != nullptr) {
    std::ofstream(page_path()) << text.substr(0, begin) << begins << table << text.substr(end);
  }
  EXPECT_EQ(found, table);
}

TEST(RolloutPage, has_the_fields_of_the_described_structs) { expect_table("fields", delivery::rollout::field_table()); }

TEST(RolloutPage, has_the_states_of_the_table_of_moves) { expect_table("states", delivery::wave::moves_table()); }

TEST(RolloutPage, names_every_verb) {
  const std::string text = page();
  for (const delivery::Action& action : delivery::rollout::actions()) {
    EXPECT_TRUE(text.contains("slipway " + action.verb)) << action.verb;
  }
  EXPECT_TRUE(text.contains("slipway rollout plan -f"));
}

struct Example {
  std::string outcome;  // what follows "```yaml " on the fence
  std::string text;
};

std::vector<Example> examples() {
  std::vector<Example> out;
  const std::string text = page();
  const std::string fence = "```yaml ";
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    const auto line_end = text.find('\n', at);
    const auto close = text.find("\n```", line_end);
    out.push_back({text.substr(at + fence.size(), line_end - at - fence.size()), text.substr(line_end + 1, close - line_end)});
  }
  return out;
}

TEST(RolloutPage, prints_what_the_plan_command_prints) {
  ManualEnv env;
  delivery::CommandCall call{.env = env, .client = nullptr, .ns = "default", .words = {}, .objects = {}, .options = {}};
  const std::string manifests = examples().front().text;
  for (const auto& document : json::parse_yaml_all(manifests).value()) {
    call.objects.push_back({.object = document.value, .source = "shop.yaml"});
  }
  const auto answer = env.run(delivery::rollout::plan_command().run(std::move(call)));
  ASSERT_TRUE(answer) << answer.error().message;
  std::string indented = "    ";
  for (const char c : answer->text) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
  EXPECT_TRUE(page().contains(indented.substr(0, indented.size() - 4))) << answer->text;
}

using RolloutExamples = RolloutTest;

TEST_F(RolloutExamples, end_as_they_say) {
  const auto all = examples();
  EXPECT_GE(all.size(), 2U);
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

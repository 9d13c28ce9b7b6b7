// Components that an application no longer has, or has under another name: what any way of delivery made of them is deleted
// once the new workflow has succeeded.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "kube/object.h"
#include "stage.h"

namespace slipway::handover_test {
namespace {

using oracle_test::kHub;

std::string component_text(const std::string& name, Way way, int number) {
  const char* trait =
      way == Way::Trait ? "{type: rollout, properties: {targetSize: 2}}" : "{type: scaler, properties: {replicas: 2}}";
  return fmt::format(
      "{{name: {0}, type: webservice, properties: {{image: '{0}:{1}', ports: [{{port: 80, expose: true}}]}}, traits: [{2}]}}",
      name, number, trait);
}

/// Version `number` of an application with these components, delivered by that way.
Value application_with(const std::vector<std::string>& components, Way way, int number) {
  std::vector<std::string> texts;
  for (const std::string& name : components) texts.push_back(component_text(name, way, number));
  std::string more = ", workflow: null, rolloutPlan: null";
  if (way == Way::Plan) more = ", workflow: null, rolloutPlan: {numBatches: 2}";
  if (way == Way::BlueGreen) {
    more =
        ", rolloutPlan: null, workflow: {steps: [{name: first, type: blue-green-rollout}, {name: rest, type: "
        "rollout-promotion, "
        "properties: {manualApproval: false}}]}";
  }
  return oracle_test::yaml(fmt::format(
      "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{}]{}}}}}",
      fmt::join(texts, ", "), more));
}

const Value kApplication =
    json::object({{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", "default"}, {"name", "a"}});

void deliver(Stage& stage, const Value& wanted) {
  const Value before = stage.application();
  Value bare = wanted;
  for (const char* member : {"workflow", "rolloutPlan"}) {
    if (bare["spec"][member].is_null()) bare = bare.with("spec", bare["spec"].without(member));
  }
  ASSERT_EQ(before.is_null() ? stage.plane().apply(bare, "default") : stage.plane().merge(kApplication, wanted), "");
  const std::int64_t revision = before["status"]["latestRevision"]["revision"].as_int();
  ASSERT_TRUE(stage.until([&] {
    return stage.phase() == "running" && stage.application()["status"]["latestRevision"]["revision"].as_int() > revision;
  })) << stage.story();
  stage.pass(std::chrono::minutes{2});
}

/// Names of the Deployments, Services, rollouts and records of their objects.
std::set<std::string> names_in(Stage& stage) {
  std::set<std::string> names;
  for (const Value& one : stage.plane().all(kHub, "default")) {
    const std::string_view kind = kube::kind(one);
    if (kind != "Deployment" && kind != "Service" && kind != "AppRollout" && kind != "Rollout") continue;
    if (kube::name(one) != "kubernetes") names.insert(fmt::format("{}/{}", kind, kube::name(one)));
  }
  for (const Value& one : stage.plane().all(kHub, "")) {
    const auto holder = kube::annotation(one, "slipway.dev/holder");
    if (!holder.empty()) names.insert(fmt::format("held by {}", holder));
  }
  return names;
}

class Components : public testing::TestWithParam<std::tuple<Way, Way>> {
 protected:
  static void expect_nothing_of(const std::string& component, Stage& stage) {
    for (const std::string& name : names_in(stage)) EXPECT_FALSE(name.contains(component)) << name << "\n" << stage.story();
  }
};

TEST_P(Components, one_that_is_taken_out_is_deleted) {
  const auto [from, to] = GetParam();
  Stage stage;
  deliver(stage, application_with({"web", "gone"}, from, 1));
  EXPECT_EQ(stage.images(), "gone:1 2, web:1 2") << stage.story();
  deliver(stage, application_with({"web"}, to, 2));
  EXPECT_EQ(stage.images(), "web:2 2") << stage.story();
  expect_nothing_of("gone", stage);
  EXPECT_EQ(stage.left_after_deletion(), "");
}

TEST_P(Components, the_old_name_of_one_that_is_renamed_is_deleted) {
  const auto [from, to] = GetParam();
  Stage stage;
  deliver(stage, application_with({"gone"}, from, 1));
  deliver(stage, application_with({"gone"}, from, 2));
  deliver(stage, application_with({"web"}, to, 3));
  EXPECT_EQ(stage.images(), "web:3 2") << stage.story();
  expect_nothing_of("gone", stage);
  EXPECT_EQ(stage.left_after_deletion(), "");
}

INSTANTIATE_TEST_SUITE_P(Ways, Components,
                         testing::Combine(testing::Values(Way::Normal, Way::BlueGreen, Way::Plan, Way::Trait),
                                          testing::Values(Way::Normal, Way::BlueGreen, Way::Plan, Way::Trait)),
                         [](const testing::TestParamInfo<std::tuple<Way, Way>>& ways) {
                           return fmt::format("{}To{}", name_of(std::get<0>(ways.param)), name_of(std::get<1>(ways.param)));
                         });

/// A user's rollout stays, without what it had made.
TEST(Components, what_a_users_rollout_made_of_one_that_is_taken_out_is_deleted) {
  Stage stage;
  deliver(stage, application_with({"web", "other"}, Way::Normal, 1));
  stage.roll_to("a-v1", "");
  EXPECT_TRUE(stage.finish(Way::Normal));
  EXPECT_EQ(stage.serving(), "other 2/2, web-v1 2/2") << stage.story();
  deliver(stage, application_with({"other"}, Way::Normal, 2));
  EXPECT_EQ(stage.images(), "other:2 2") << stage.story();
  EXPECT_TRUE(stage.find("v1", "Service", "web").is_null());
  EXPECT_FALSE(stage.rollout(Way::Standalone).is_null());
  EXPECT_EQ(stage.left_after_deletion(), "");
}

}  // namespace
}  // namespace slipway::handover_test

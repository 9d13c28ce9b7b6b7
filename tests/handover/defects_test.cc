// What went wrong where one way of delivery followed another.
#include <gtest/gtest.h>

#include "kube/object.h"
#include "stage.h"

namespace slipway::handover_test {
namespace {

using std::chrono::seconds;

TEST(Handover, a_component_without_replicas_is_rolled_out_with_one_pod) {
  for (const Way way : {Way::BlueGreen, Way::Plan, Way::Trait}) {
    Stage stage;
    stage.deliver({.way = way, .number = 1, .replicas = 0});
    stage.deliver({.way = way, .number = 2, .replicas = 0});
  }
}

TEST(Handover, the_service_stays_when_blue_green_follows_normal_delivery) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.deliver({.way = Way::BlueGreen, .number = 2});
  EXPECT_EQ(stage.fault(), "");
  stage.deliver({.way = Way::BlueGreen, .number = 3});
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

TEST(Handover, the_service_stays_when_a_plan_follows_normal_delivery) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.deliver({.way = Way::Plan, .number = 2});
  EXPECT_EQ(stage.fault(), "");
  stage.deliver({.way = Way::Plan, .number = 3});
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

TEST(Handover, normal_delivery_takes_the_place_of_blue_green) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::BlueGreen, .number = 1});
  stage.deliver({.way = Way::BlueGreen, .number = 2});
  stage.deliver({.way = Way::Normal, .number = 3});
  EXPECT_EQ(stage.serving(), "web 4/4");
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

TEST(Handover, normal_delivery_takes_the_place_of_a_plan) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Plan, .number = 1});
  stage.deliver({.way = Way::Plan, .number = 2});
  stage.deliver({.way = Way::Normal, .number = 3});
  EXPECT_EQ(stage.serving(), "web 4/4");
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

TEST(Handover, pods_of_an_abandoned_first_attempt_drain) {
  for (const Way way : {Way::BlueGreen, Way::Plan, Way::Trait}) {
    Stage stage;
    stage.watch({});
    stage.apply({.way = way, .number = 1, .ready_after = "8s"});
    stage.pass(seconds{3});
    stage.deliver({.way = way, .number = 2, .ready_after = "8s"});
    EXPECT_EQ(stage.fault(), "");
    stage.deliver({.way = way, .number = 3, .ready_after = "8s"});
    EXPECT_EQ(stage.fault(), "");
  }
}

TEST(Handover, the_application_adopts_what_a_standalone_rollout_of_its_revision_made) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.deliver({.way = Way::Standalone, .number = 2});
  EXPECT_EQ(stage.serving(), "web-v2 4/4");
  EXPECT_EQ(stage.fault(), "");
  stage.pass(std::chrono::minutes{10});
  EXPECT_EQ(stage.serving(), "web-v2 4/4") << "nothing is repaired beside it";
  stage.deliver({.way = Way::Normal, .number = 3});
  EXPECT_EQ(stage.serving(), "web 4/4");
  EXPECT_EQ(stage.fault(), "");
}

TEST(Handover, the_trait_keeps_old_revisions_without_pods) {
  Stage stage;
  stage.watch({});
  for (int number = 1; number <= 3; ++number) stage.deliver({.way = Way::Trait, .number = number});
  EXPECT_EQ(stage.fault(), "");
  const auto count = [&](const kube::GroupVersionKind& kind) {
    std::size_t found = 0;
    for (const Value& one : stage.plane().all_of(oracle_test::kHub, kind, "default")) {
      found += kube::label(one, "app.oam.dev/component") == "web" ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(count({"apps", "v1", "Deployment"}), 3U) << stage.sizes();
  EXPECT_EQ(count({"apps", "v1", "ControllerRevision"}), 3U);
  EXPECT_EQ(stage.left_after_deletion(), "");
}

}  // namespace
}  // namespace slipway::handover_test

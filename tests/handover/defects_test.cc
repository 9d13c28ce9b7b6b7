// What went wrong where one way of delivery followed another.
#include <gtest/gtest.h>

#include "json/text.h"
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

TEST(Handover, normal_delivery_without_replicas_makes_as_many_pods_as_the_plan_had) {
  Stage stage;
  stage.watch({});
  stage.apply({.way = Way::Plan, .number = 1, .replicas = 0, .target_size = 4});
  EXPECT_TRUE(stage.finish(Way::Plan));
  EXPECT_EQ(stage.images(), "web:1 4") << stage.story();
  stage.apply({.way = Way::Normal, .number = 2, .replicas = 0});
  EXPECT_TRUE(stage.finish(Way::Normal));
  EXPECT_EQ(stage.serving(), "web 4/4") << stage.story();
  EXPECT_EQ(stage.fault(), "");
}

TEST(Handover, what_the_new_deliverer_leaves_out_of_the_service_is_removed) {
  for (const auto& [from, to] : {std::pair(Way::Normal, Way::Plan), std::pair(Way::Plan, Way::Normal)}) {
    Stage stage;
    stage.watch({});
    stage.deliver({.way = from, .number = 1, .port = 80});
    stage.deliver({.way = to, .number = 2, .port = 81});
    EXPECT_EQ(stage.fault(), "");
    const Value ports = stage.find("v1", "Service", "web")["spec"]["ports"];
    ASSERT_EQ(ports.size(), 1U) << json::print(ports);
    EXPECT_EQ(ports.item(0)["port"].as_int(), 81);
  }
}

TEST(Handover, a_service_that_the_revision_drops_goes) {
  for (const auto& [from, to] : {std::pair(Way::Normal, Way::Plan), std::pair(Way::Plan, Way::Plan),
                                 std::pair(Way::Plan, Way::Normal), std::pair(Way::BlueGreen, Way::Trait)}) {
    Stage stage;
    stage.deliver({.way = from, .number = 1});
    stage.deliver({.way = to, .number = 2, .has_service = false});
    EXPECT_TRUE(stage.find("v1", "Service", "web").is_null()) << name_of(from) << " to " << name_of(to);
  }
}

TEST(Handover, autoscalers_follow_the_name) {
  Stage stage;
  stage.deliver({.way = Way::Normal, .number = 1, .is_scaled = true});
  stage.deliver({.way = Way::Standalone, .number = 2, .is_scaled = true});
  const auto scaled = [&] {
    return stage.find("autoscaling/v2", "HorizontalPodAutoscaler", "web")["spec"]["scaleTargetRef"]["name"].str();
  };
  EXPECT_EQ(scaled(), "web-v2") << stage.story();
  stage.deliver({.way = Way::Normal, .number = 3, .is_scaled = true});
  EXPECT_EQ(scaled(), "web");
}

TEST(Handover, a_rolling_update_that_never_ends_gives_way_to_a_plan) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.apply({.way = Way::Normal, .number = 2, .is_bad = true});
  stage.pass(std::chrono::minutes{1});
  stage.deliver({.way = Way::Plan, .number = 3});
  EXPECT_EQ(stage.fault(), "");
}

TEST(Handover, the_application_leaves_what_a_rollout_back_has_drained) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.deliver({.way = Way::Normal, .number = 2});
  stage.roll_to("a-v1", "a-v2");
  EXPECT_TRUE(stage.finish(Way::Normal));
  EXPECT_EQ(stage.serving(), "web-v1 4/4") << stage.story();
  stage.pass(std::chrono::minutes{10});
  EXPECT_EQ(stage.serving(), "web-v1 4/4");
  stage.deliver({.way = Way::Normal, .number = 3});
  EXPECT_EQ(stage.serving(), "web 4/4");
  EXPECT_EQ(stage.fault(), "");
}

TEST(Handover, the_application_adopts_a_rollout_of_the_revision_that_it_has_delivered) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.roll_to("a-v1", "");
  EXPECT_TRUE(stage.finish(Way::Normal));
  EXPECT_EQ(stage.sizes(), "web-v1 4/4") << stage.story();
  EXPECT_EQ(stage.phase(), "running");
  stage.pass(std::chrono::minutes{10});
  EXPECT_EQ(stage.sizes(), "web-v1 4/4");
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

}  // namespace
}  // namespace slipway::handover_test

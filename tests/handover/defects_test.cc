// What went wrong where one way of delivery followed another.
#include <fmt/format.h>
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
  stage.watch({.unavailable = 1, .surge = 4});
  stage.deliver({.way = Way::BlueGreen, .number = 1});
  stage.deliver({.way = Way::BlueGreen, .number = 2});
  stage.deliver({.way = Way::Normal, .number = 3});
  EXPECT_EQ(stage.serving(), "web 4/4");
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

TEST(Handover, normal_delivery_takes_the_place_of_a_plan) {
  Stage stage;
  stage.watch({.unavailable = 1, .surge = 4});
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
  stage.watch({.unavailable = 1, .surge = 4});
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

/// An AppRollout of a user's that comes while the Application delivers the same revision waits for that, and takes over then.
class Together : public testing::TestWithParam<Way> {};

TEST_P(Together, a_rollout_of_the_revision_that_is_delivered_waits_and_takes_over) {
  Stage stage;
  stage.watch({.unavailable = 1, .surge = 4});
  stage.deliver({.way = GetParam(), .number = 1});
  stage.apply({.way = GetParam(), .number = 2, .ready_after = "8s"});
  stage.roll_to("a-v2", "");
  ASSERT_TRUE(stage.until([&] { return stage.images().contains("web:2"); })) << stage.story();
  stage.pass(seconds{5});
  const Value waits = stage.rollout(Way::Standalone)["status"]["waits"].item(0);
  EXPECT_EQ(waits["on"].as_string(), "application") << stage.story();
  EXPECT_TRUE(waits["text"].as_string().starts_with("Application a delivers revision a-v2 itself")) << json::print(waits);
  EXPECT_EQ(stage.rollout(Way::Standalone)["status"]["attempt"].as_int(), 0);
  EXPECT_TRUE(stage.finish(GetParam()));
  EXPECT_EQ(stage.rollout(Way::Standalone)["status"]["rollingState"].as_string(), "rolloutSucceed") << stage.story();
  EXPECT_EQ(stage.serving(), "web-v2 4/4") << stage.story();
  EXPECT_EQ(stage.phase(), "running") << stage.story();
  stage.pass(std::chrono::minutes{10});
  EXPECT_EQ(stage.images(), "web:2 4") << stage.story();
  EXPECT_EQ(stage.serving(), "web-v2 4/4") << stage.story();
  stage.deliver({.way = GetParam(), .number = 3});
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

// A revision whose component has the trait holds no workload: a rollout of it says so, and makes nothing.
INSTANTIATE_TEST_SUITE_P(Ways, Together, testing::Values(Way::Normal, Way::BlueGreen, Way::Plan),
                         [](const testing::TestParamInfo<Way>& way) { return std::string(name_of(way.param)); });

TEST(Handover, an_application_and_a_rollout_of_its_first_revision_in_one_file_make_one_workload) {
  Stage stage;
  stage.apply({.way = Way::Normal, .number = 1});
  stage.roll_to("a-v1", "");
  EXPECT_TRUE(stage.finish(Way::Normal));
  EXPECT_EQ(stage.sizes(), "web-v1 4/4") << stage.story();
  EXPECT_EQ(stage.phase(), "running");
  for (const Value& one : stage.application()["status"]["appliedResources"].items()) {
    EXPECT_NE(one["name"].str() + one["kind"].str(), "webDeployment") << "it is not there any more";
  }
  EXPECT_EQ(stage.left_after_deletion(), "");
}

/// A plan that waits at its partition: the AppRollout of the same revision waits behind it, and neither ends the other.
TEST(Handover, two_rollouts_of_one_revision_do_not_end_each_other) {
  Stage stage;
  stage.watch({});
  stage.deliver({.way = Way::Plan, .number = 1});
  stage.apply({.way = Way::Plan, .number = 2, .is_asked = true});
  ASSERT_TRUE(stage.until([&] { return stage.rollout(Way::Plan)["status"]["pause"].as_bool(); })) << stage.story();
  stage.roll_to("a-v2", "");
  stage.pass(std::chrono::minutes{2});
  EXPECT_EQ(stage.serving(), "web-v1 2/2, web-v2 2/2") << "its approval still holds it: " << stage.story();
  for (const Way way : {Way::Plan, Way::Standalone}) {
    EXPECT_NE(stage.rollout(way)["status"]["rollingState"].as_string(), "rolloutFailed") << stage.story();
    EXPECT_EQ(kube::annotation(stage.rollout(way), "rollout.slipway.dev/yield"), "");
  }
  EXPECT_TRUE(stage.finish(Way::Plan));
  for (const Way way : {Way::Plan, Way::Standalone}) {
    EXPECT_EQ(stage.rollout(way)["status"]["rollingState"].as_string(), "rolloutSucceed") << stage.story();
  }
  EXPECT_EQ(stage.serving(), "web-v2 4/4") << stage.story();
  EXPECT_EQ(stage.phase(), "running") << stage.story();
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

/// Two users' rollouts of one revision: the second waits for the end of the first.
TEST(Handover, the_second_rollout_of_a_revision_waits_for_the_first) {
  Stage stage;
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.apply({.way = Way::Standalone, .number = 2, .is_asked = true});
  const auto first = [&] { return stage.rollout(Way::Standalone)["status"]; };
  ASSERT_TRUE(stage.until([&] { return first()["pause"].as_bool(); })) << stage.story();
  const char* second =
      "{apiVersion: core.oam.dev/v1beta1, kind: AppRollout, metadata: {name: second}, spec: {targetAppRevisionName: a-v2, "
      "componentList: [web], rolloutPlan: {numBatches: 1}}}";
  ASSERT_EQ(stage.plane().apply(oracle_test::yaml(second), "default"), "");
  stage.pass(std::chrono::minutes{1});
  const auto other = [&] { return stage.find("core.oam.dev/v1beta1", "AppRollout", "second")["status"]; };
  EXPECT_EQ(other()["waits"].item(0)["on"].as_string(), "owner") << json::print(other());
  EXPECT_EQ(stage.serving(), "web 2/2, web-v2 2/2") << stage.story();
  const Value reference =
      json::object({{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "AppRollout"}, {"namespace", "default"}, {"name", "r"}});
  ASSERT_EQ(stage.plane().act(reference, "rollout approve"), "");
  EXPECT_TRUE(stage.until([&] { return other()["rollingState"].as_string() == "rolloutSucceed"; })) << json::print(other());
  EXPECT_EQ(first()["rollingState"].as_string(), "rolloutSucceed") << stage.story();
  EXPECT_TRUE(stage.finish(Way::Standalone));
  EXPECT_EQ(stage.serving(), "web-v2 4/4") << stage.story();
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

/// Workloads without pods that older revisions left: at most as many as revisions are kept.
class LeftOver : public testing::TestWithParam<Way> {};

TEST_P(LeftOver, sources_are_at_most_the_revision_limit) {
  constexpr int kLimit = 2;
  Stage stage;
  stage.watch({});
  for (int number = 1; number <= 6; ++number) {
    stage.deliver({.way = GetParam(), .number = number, .revision_limit = kLimit});
    stage.pass(std::chrono::minutes{1});
    int empty = 0, serving = 0;
    for (const Value& one : stage.plane().all_of(oracle_test::kHub, {"apps", "v1", "Deployment"}, "default")) {
      ++(one["spec"]["replicas"].as_int() == 0 ? empty : serving);
    }
    EXPECT_LE(empty, kLimit) << stage.sizes();
    EXPECT_EQ(serving, 1) << stage.sizes();
  }
  EXPECT_EQ(stage.fault(), "");
  EXPECT_EQ(stage.left_after_deletion(), "");
}

INSTANTIATE_TEST_SUITE_P(Ways, LeftOver, testing::Values(Way::BlueGreen, Way::Plan, Way::Trait, Way::Standalone),
                         [](const testing::TestParamInfo<Way>& way) { return std::string(name_of(way.param)); });

TEST(Handover, normal_delivery_without_replicas_makes_as_many_pods_as_the_plan_had) {
  Stage stage;
  stage.watch({.unavailable = 1, .surge = 4});
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
    stage.watch({.unavailable = 1, .surge = 4});
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
  stage.watch({.unavailable = 1, .surge = 3});  // b, and the pod of the update that is never ready
  stage.deliver({.way = Way::Normal, .number = 1});
  stage.apply({.way = Way::Normal, .number = 2, .is_bad = true});
  stage.pass(std::chrono::minutes{1});
  stage.deliver({.way = Way::Plan, .number = 3});
  EXPECT_EQ(stage.fault(), "");
}

TEST(Handover, the_application_leaves_what_a_rollout_back_has_drained) {
  Stage stage;
  stage.watch({.unavailable = 1, .surge = 4});
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
  stage.watch({.unavailable = 1, .surge = 4});
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

TEST(Handover, a_plan_after_blue_green_has_nothing_of_what_the_steps_set) {
  Stage stage;
  stage.deliver({.way = Way::BlueGreen, .number = 1, .on_failure = OnFailure::Revert});
  stage.deliver({.way = Way::BlueGreen, .number = 2, .on_failure = OnFailure::Revert});
  EXPECT_EQ(stage.rollout(Way::BlueGreen)["spec"]["rolloutPlan"]["onFailure"].as_string(), "Revert");
  stage.deliver({.way = Way::Plan, .number = 3});
  const Value plan = stage.rollout(Way::Plan)["spec"]["rolloutPlan"];
  for (const char* member : {"onFailure", "batchPartition"}) EXPECT_FALSE(plan.has(member)) << json::print(plan);
  EXPECT_EQ(plan["rolloutBatches"].size(), 2U) << json::print(plan);
}

/// Revisions of before Slipway told plans from versions name components otherwise: a change beside a component moves no pod of
/// it.
TEST(Handover, a_component_that_has_not_changed_keeps_its_pods_after_an_upgrade) {
  const auto app = [](int web, int other) {
    return oracle_test::yaml(fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{{name: "
        "web, type: webservice, properties: {{image: 'web:{}'}}, traits: [{{type: rollout, properties: {{targetSize: "
        "2}}}}]}}, {{name: other, type: webservice, properties: {{image: 'other:{}'}}}}]}}}}",
        web, other));
  };
  const Value reference =
      json::object({{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", "default"}, {"name", "a"}});
  const auto rollout = [](Stage& stage) { return stage.rollout(Way::Trait)["spec"]["targetRevisionName"].str(); };
  Stage now;
  ASSERT_EQ(now.plane().apply(app(1, 1), "default"), "");
  EXPECT_TRUE(now.finish(Way::Trait));
  Value revision = now.find("core.oam.dev/v1beta1", "ApplicationRevision", "a-v1");
  ASSERT_EQ(kube::annotation(revision, "slipway.dev/plan-free"), "true");

  Stage stage;
  ASSERT_EQ(stage.plane().apply(app(1, 1), "default"), "");
  revision = revision.without_path({"metadata", "annotations"}).without_path({"metadata", "resourceVersion"});
  revision = revision.without_path({"metadata", "uid"}).without("status");
  revision = revision.with_path({"metadata", "ownerReferences"}, json::array({kube::owner_reference(stage.application())}));
  stage.plane().store(oracle_test::kHub, revision, "slipway");
  EXPECT_TRUE(stage.finish(Way::Trait));
  const std::string before = rollout(stage);
  EXPECT_NE(before, rollout(now)) << "the revision is one of before";
  for (const int number : {2, 3}) {
    ASSERT_EQ(stage.plane().merge(reference, json::object({{"spec", app(1, number)["spec"]}})), "");
    EXPECT_TRUE(stage.finish(Way::Trait));
    EXPECT_EQ(rollout(stage), before);
    EXPECT_EQ(stage.rollout(Way::Trait)["status"]["attempt"].as_int(), 1);
    EXPECT_EQ(stage.images(), fmt::format("other:{} 1, web:1 2", number)) << stage.story();
  }
  ASSERT_EQ(stage.plane().merge(reference, json::object({{"spec", app(2, 3)["spec"]}})), "");
  EXPECT_TRUE(stage.finish(Way::Trait));
  EXPECT_NE(rollout(stage), before);
  EXPECT_EQ(stage.images(), "other:3 1, web:2 2") << stage.story();
}

TEST(Handover, a_rollback_waits_until_what_it_applies_again_is_healthy) {
  Stage stage;
  const auto app = [](int number, const char* more) {
    return oracle_test::yaml(fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{{name: web, type: "
        "webservice, properties: {{image: 'web:{}'}}, traits: [{{type: annotations, properties: {{slipway.dev/ready-after: "
        "20s}}}}]}}], workflow: {{steps: [{{name: go, type: apply-component, properties: {{component: web}}}}{}]}}}}}}",
        number, more));
  };
  ASSERT_EQ(stage.plane().apply(app(1, ""), "default"), "");
  ASSERT_TRUE(stage.until([&] { return stage.phase() == "running"; })) << stage.story();
  ASSERT_EQ(stage.plane().apply(app(2, ", {name: back, type: rollback}"), "default"), "");
  const auto back = [&] { return stage.application()["status"]["workflow"]["steps"].item(1); };
  ASSERT_TRUE(stage.until([&] {
    return back()["message"].as_string().starts_with("revision a-v1 is applied again; component");
  })) << stage.story();
  EXPECT_TRUE(back()["message"].as_string().contains("web is not healthy")) << json::print(back());
  EXPECT_EQ(stage.application()["status"]["rolledBackTo"].as_string(), "");
  ASSERT_TRUE(stage.until([&] { return stage.phase() == "workflowFailed"; })) << stage.story();
  EXPECT_EQ(stage.images(), "web:1 1") << "it serves when the step ends";
  EXPECT_EQ(stage.serving(), "web 1/1");
  EXPECT_EQ(stage.application()["status"]["rolledBackTo"].as_string(), "a-v1");
}

/// Objects of older versions stay where a policy says so; pods stay within 2T, and at rest at T.
TEST(Handover, kept_workloads_of_rollouts_have_no_pods) {
  Stage stage;
  const auto version = [](Way way, int number) { return Version{.way = way, .number = number, .keeps_legacy = true}; };
  stage.watch({.unavailable = 1, .surge = 4});
  stage.deliver(version(Way::Plan, 1));
  stage.deliver(version(Way::Plan, 2));
  stage.apply(version(Way::Normal, 3));
  stage.pass(seconds{2});
  stage.deliver(version(Way::Normal, 4));
  EXPECT_EQ(stage.sizes(), "web 4/4, web-v1 0/0, web-v2 0/0") << stage.story();
  stage.deliver(version(Way::Normal, 5));
  stage.deliver(version(Way::Plan, 6));
  EXPECT_EQ(stage.sizes(), "web 0/0, web-v1 0/0, web-v2 0/0, web-v6 4/4") << stage.story();
  EXPECT_EQ(stage.fault(), "") << stage.story();
  EXPECT_EQ(stage.left_after_deletion(), "");
}

/// A RolloutTrait takes the pods of an application's Deployment; the application does not bring them back.
TEST(Handover, a_users_trait_takes_the_place_of_what_an_application_delivers) {
  Stage stage;
  stage.deliver({.way = Way::Normal, .number = 1});
  const auto apply = [&](const char* text) { ASSERT_EQ(stage.plane().apply(oracle_test::yaml(text), "default"), ""); };
  apply(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: own}, spec: {replicas: 0, selector: {matchLabels: {app: own}}, "
      "template: {metadata: {labels: {app: own}}, spec: {containers: [{name: main, image: 'web:1'}]}}}}");
  apply(
      "{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {name: mine}, spec: {targetRef: {apiVersion: "
      "apps/v1, kind: Deployment, name: own}, sourceRef: [{apiVersion: apps/v1, kind: Deployment, name: web}], rolloutPlan: "
      "{numBatches: 2}}}");
  EXPECT_TRUE(stage.finish(Way::Normal));
  EXPECT_EQ(stage.sizes(), "own 4/4, web 0/0") << stage.story();
  EXPECT_EQ(kube::annotation(stage.find("apps/v1", "Deployment", "web"), "slipway.dev/replaced-by"),
            "standard.oam.dev/v1alpha1/RolloutTrait/mine");
  stage.pass(std::chrono::minutes{10});
  EXPECT_EQ(stage.sizes(), "own 4/4, web 0/0");
  stage.apply({.way = Way::Normal, .number = 2});
  EXPECT_TRUE(stage.finish(Way::Normal));
  EXPECT_EQ(stage.sizes(), "own 4/4, web 4/4") << "the application delivers its component again";
}

}  // namespace
}  // namespace slipway::handover_test

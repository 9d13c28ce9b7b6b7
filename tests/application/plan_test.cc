// A plan of a rollout is not a version: edits of spec.rolloutPlan and of the trait `rollout` go into the rollout that is under
// way, by its rules, and make no ApplicationRevision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "oracle_plane.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::seconds;

constexpr const char* kBatches = "{rolloutBatches: [{replicas: 1}, {replicas: 1}, {replicas: 2}]";

testing::AssertionResult has(const std::string& text, const std::string& part) {
  return text.contains(part) ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
}

class Plans : public testing::Test {
 protected:
  void SetUp() override { plane_.make_namespace("default"); }

  /// The refusal, or "". A plan takes the place of the one before, as with kubectl.
  std::string apply(const std::string& text) {
    Value wanted = yaml(text);
    const Value& before = application()["spec"]["rolloutPlan"];
    const Value plan = wanted["spec"]["rolloutPlan"];
    if (plan.is_null() && !before.is_null()) wanted = wanted.with_path({"spec", "rolloutPlan"}, Value());
    for (const auto& [name, value] : before.members()) {
      if (plan.is_object() && !plan.has(name)) wanted = wanted.with_path({"spec", "rolloutPlan", name}, Value());
    }
    const std::string refusal = plane_.apply(wanted, "default");
    plane_.pass(seconds{60});
    return refusal;
  }
  Value find(const char* version, const char* kind, const char* name) {
    return plane_.find(kHub, json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}}));
  }
  Value application() { return find("core.oam.dev/v1beta1", "Application", "a"); }
  Value rollout() { return find("core.oam.dev/v1beta1", "AppRollout", "a-web"); }
  Value trait() { return find("standard.oam.dev/v1alpha1", "Rollout", "web"); }
  std::string revisions() {
    std::string text;
    for (const Value& object : plane_.all(kHub, "default")) {
      if (kube::kind(object) == "ApplicationRevision") text += fmt::format("{}{}", text.empty() ? "" : " ", kube::name(object));
    }
    return text;
  }
  /// "web-v1 4/4": pods that are ready, of those asked for.
  std::string sizes() {
    std::string text;
    for (const Value& object : plane_.all(kHub, "default")) {
      if (object["kind"].as_string() != "Deployment") continue;
      text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", kube::name(object),
                          object["status"]["readyReplicas"].as_int(), object["spec"]["replicas"].as_int());
    }
    return text;
  }
  std::string phase() { return application()["status"]["status"].str(); }
  std::string why() { return json::print(application()["status"]); }
  /// `plan` may be empty; `more` stands among the annotations.
  static std::string with_plan(const std::string& image, const std::string& plan, const std::string& more = "") {
    return fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a, annotations: {{{}}}}}, spec: "
        "{{components: "
        "[{{name: web, type: webservice, properties: {{image: '{}'}}, traits: [{{type: scaler, properties: {{replicas: "
        "4}}}}]}}]{}}}}}",
        more, image, plan.empty() ? "" : ", rolloutPlan: " + plan);
  }
  static std::string with_trait(const std::string& image, const std::string& properties) {
    return fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{{name: web, type: "
        "webservice, properties: {{image: '{}'}}, traits: [{{type: rollout, properties: {}}}]}}]}}}}",
        image, properties);
  }
  std::string patch_rollout(const std::string& plan) {
    return plane_.merge(
        json::object(
            {{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "AppRollout"}, {"namespace", "default"}, {"name", "a-web"}}),
        yaml("{spec: {rolloutPlan: " + plan + "}}"));
  }
  /// v1 is there, v2 stands at its first batch.
  void begin() {
    ASSERT_EQ(apply(with_plan("web:1", "{numBatches: 1}")), "");
    ASSERT_EQ(sizes(), "web-v1 4/4") << why();
    ASSERT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 0}")), "");
    ASSERT_EQ(sizes(), "web-v1 3/3, web-v2 1/1") << why();
  }
  Plane plane_{&image()};
};

TEST_F(Plans, an_edit_goes_into_the_rollout_that_is_under_way) {
  begin();
  EXPECT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 1}")), "");
  EXPECT_EQ(sizes(), "web-v1 2/2, web-v2 2/2") << why();
  EXPECT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 2, paused: true}")), "");
  EXPECT_EQ(sizes(), "web-v1 2/2, web-v2 2/2") << "paused";
  EXPECT_EQ(apply(with_plan("web:2", std::string(kBatches) + "}")), "");
  EXPECT_EQ(sizes(), "web-v1 0/0, web-v2 4/4") << why() << json::print(rollout());
  EXPECT_EQ(revisions(), "a-v1 a-v2");
  EXPECT_EQ(phase(), "running") << why();
}

TEST_F(Plans, what_the_rollout_refuses_is_refused_on_the_application) {
  begin();
  ASSERT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 1}")), "");
  const std::string back = apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 0}"));
  EXPECT_TRUE(has(back, "spec.rolloutPlan.batchPartition"));
  EXPECT_TRUE(has(back, "PartitionOnlyGrows"));
  const std::string released =
      apply(with_plan("web:2", "{rolloutBatches: [{replicas: 1}, {replicas: 2}, {replicas: 1}], batchPartition: 1}"));
  EXPECT_TRUE(has(released, "spec.rolloutPlan.rolloutBatches[1]"));
  EXPECT_TRUE(has(released, "ReleasedBatchesAreFixed"));
  EXPECT_TRUE(has(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 1, rolloutStrategy: DecreaseFirst}")),
                  "OnlyWithNewTarget"));
  EXPECT_EQ(sizes(), "web-v1 2/2, web-v2 2/2");
  // With a new image any plan may begin.
  EXPECT_EQ(apply(with_plan("web:3", "{numBatches: 1, rolloutStrategy: DecreaseFirst}")), "");
  EXPECT_EQ(revisions(), "a-v1 a-v2 a-v3");
}

TEST_F(Plans, what_a_person_promoted_stays_when_something_else_is_edited) {
  begin();
  ASSERT_EQ(patch_rollout("{batchPartition: 1}"), "");
  plane_.pass(seconds{60});
  ASSERT_EQ(sizes(), "web-v1 2/2, web-v2 2/2");
  EXPECT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 0, onFailure: Revert}")), "");
  EXPECT_EQ(rollout()["spec"]["rolloutPlan"]["batchPartition"].as_int(), 1) << json::print(rollout());
  EXPECT_EQ(rollout()["spec"]["rolloutPlan"]["onFailure"].as_string(), "Revert") << json::print(rollout());
  EXPECT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 2, onFailure: Revert}")), "");
  EXPECT_EQ(sizes(), "web-v1 0/0, web-v2 4/4") << json::print(rollout());
}

TEST_F(Plans, that_are_added_or_removed_alone_move_nothing) {
  ASSERT_EQ(apply(with_plan("web:1", "")), "");
  ASSERT_EQ(sizes(), "web 4/4");
  EXPECT_EQ(apply(with_plan("web:1", "{numBatches: 2}")), "");
  EXPECT_EQ(sizes(), "web 4/4");
  EXPECT_EQ(revisions(), "a-v1");
  EXPECT_TRUE(rollout().is_null());
  EXPECT_EQ(apply(with_plan("web:1", "")), "");
  ASSERT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 0}")), "");
  ASSERT_TRUE(has(sizes(), "web-v2 1/1")) << why();
  EXPECT_EQ(apply(with_plan("web:2", "")), "") << "the rollout that is under way goes on";
  EXPECT_EQ(rollout()["spec"]["rolloutPlan"]["batchPartition"].as_int(-1), 0);
  ASSERT_EQ(patch_rollout("{batchPartition: 2}"), "");
  plane_.pass(seconds{60});
  EXPECT_EQ(rollout()["status"]["rollingState"].as_string(), "rolloutSucceed");
  EXPECT_EQ(revisions(), "a-v1 a-v2");
}

TEST_F(Plans, that_change_after_the_end_wait_for_the_next_revision) {
  begin();
  ASSERT_EQ(apply(with_plan("web:2", std::string(kBatches) + "}")), "");
  ASSERT_EQ(phase(), "running") << why();
  const Value before = rollout()["spec"];
  EXPECT_EQ(apply(with_plan("web:2", "{numBatches: 4, batchPartition: 0}")), "");
  EXPECT_EQ(rollout()["spec"], before);
  EXPECT_EQ(plane_.act(
                json::object(
                    {{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", "default"}, {"name", "a"}}),
                "workflow restart"),
            "");
  plane_.pass(seconds{60});
  EXPECT_EQ(phase(), "running") << why();
  EXPECT_EQ(rollout()["spec"], before) << "the revision is the same";
  EXPECT_EQ(apply(with_plan("web:3", "{numBatches: 4, batchPartition: 0}")), "");
  EXPECT_TRUE(has(sizes(), "web-v2 3/3, web-v3 1/1")) << why();
}

TEST_F(Plans, a_target_size_is_a_scale_at_any_time) {
  ASSERT_EQ(apply(with_plan("web:1", "{numBatches: 1, targetSize: 2}")), "");
  ASSERT_EQ(sizes(), "web-v1 2/2") << why();
  EXPECT_EQ(apply(with_plan("web:1", "{numBatches: 1, targetSize: 3}")), "");
  EXPECT_EQ(sizes(), "web-v1 3/3") << json::print(rollout());
  ASSERT_EQ(apply(with_plan("web:2", "{numBatches: 1, targetSize: 3}")), "");
  ASSERT_EQ(sizes(), "web-v1 0/0, web-v2 3/3") << why();
  EXPECT_EQ(apply(with_plan("web:2", "{numBatches: 2, targetSize: 5}")), "");
  EXPECT_EQ(sizes(), "web-v1 0/0, web-v2 5/5") << json::print(rollout());
  EXPECT_EQ(apply(with_plan("web:2", "{numBatches: 2, targetSize: 1}")), "");
  EXPECT_EQ(sizes(), "web-v1 0/0, web-v2 1/1") << json::print(rollout());
  EXPECT_EQ(revisions(), "a-v1 a-v2");
  EXPECT_EQ(phase(), "running") << why();
}

/// Batches of whole numbers were made for the size before.
TEST_F(Plans, a_target_size_is_a_scale_whatever_number_of_pods_the_batches_make) {
  const auto plan = [](int size) {
    return fmt::format("{{targetSize: {}, rolloutBatches: [{{replicas: 1}}, {{replicas: 3}}]}}", size);
  };
  ASSERT_EQ(apply(with_plan("web:1", plan(4))), "");
  for (const int size : {6, 4}) {
    EXPECT_EQ(apply(with_plan("web:1", plan(size))), "");
    EXPECT_EQ(sizes(), fmt::format("web-v1 {0}/{0}", size)) << json::print(rollout());
  }
  ASSERT_EQ(apply(with_plan("web:2", plan(4))), "");
  const std::string refused = apply(with_plan("web:2", plan(6)));
  EXPECT_TRUE(refused.contains("the batches make 4 pods, but 6 are to change: change them together with targetSize"))
      << refused;
  EXPECT_EQ(apply(with_plan("web:2", "{targetSize: 6, rolloutBatches: [{replicas: 2}, {replicas: 4}]}")), "");
  EXPECT_EQ(sizes(), "web-v1 0/0, web-v2 6/6") << why();
  EXPECT_EQ(phase(), "running") << why();
  EXPECT_EQ(revisions(), "a-v1 a-v2");
}

TEST_F(Plans, a_size_that_the_batches_cannot_make_is_refused_in_the_midst) {
  const auto with = [](const char* image, int size) {
    return with_trait(
        image, fmt::format("{{targetSize: {}, rolloutBatches: [{{replicas: 1}}, {{replicas: 3}}], batchPartition: 0}}", size));
  };
  ASSERT_EQ(apply(with_trait("web:1", "{targetSize: 4}")), "");
  ASSERT_EQ(apply(with("web:2", 4)), "");
  ASSERT_TRUE(has(sizes(), "1/1")) << json::print(trait());
  const std::string refused = apply(with("web:2", 6));
  EXPECT_TRUE(has(refused, "spec.components[0].traits[0].properties.")) << refused;
  EXPECT_TRUE(has(sizes(), "1/1")) << json::print(trait());
  EXPECT_NE(trait()["status"]["rollingState"].as_string(), "rolloutFailed");
}

TEST_F(Plans, a_publish_version_does_not_hold_them) {
  const std::string version = "app.oam.dev/publishVersion: one";
  ASSERT_EQ(apply(with_plan("web:1", "{numBatches: 1}")), "");
  ASSERT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 0}", version)), "");
  ASSERT_EQ(sizes(), "web-v1 3/3, web-v2 1/1") << why();
  EXPECT_EQ(apply(with_plan("web:3", std::string(kBatches) + ", batchPartition: 1}", version)), "");
  EXPECT_EQ(sizes(), "web-v1 2/2, web-v2 2/2") << "the image is held, the plan is not";
  EXPECT_TRUE(has(apply(with_plan("web:3", std::string(kBatches) + ", batchPartition: 0}", version)), "PartitionOnlyGrows"));
  EXPECT_EQ(revisions(), "a-v1 a-v2");
}

TEST_F(Plans, are_written_while_the_workflow_is_suspended) {
  begin();
  const Value app =
      json::object({{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", "default"}, {"name", "a"}});
  ASSERT_EQ(plane_.act(app, "workflow suspend"), "");
  plane_.pass(seconds{10});
  EXPECT_EQ(apply(with_plan("web:2", std::string(kBatches) + ", batchPartition: 1}")), "");
  EXPECT_EQ(sizes(), "web-v1 2/2, web-v2 2/2") << why();
}

TEST_F(Plans, of_the_trait_go_into_its_rollout) {
  const std::string batches = ", rolloutBatches: [{replicas: 1}, {replicas: 1}, {replicas: 2}]";
  ASSERT_EQ(apply(with_trait("web:1", "{targetSize: 4}")), "");
  ASSERT_EQ(phase(), "running") << why();
  const std::string first = sizes();
  ASSERT_TRUE(has(first, " 4/4"));
  EXPECT_EQ(apply(with_trait("web:1", "{targetSize: 7}")), "");
  EXPECT_TRUE(has(sizes(), " 7/7")) << json::print(trait());
  EXPECT_EQ(apply(with_trait("web:1", "{targetSize: 4}")), "");
  EXPECT_EQ(sizes(), first) << "a size is no version";
  EXPECT_EQ(revisions(), "a-v1");
  ASSERT_EQ(apply(with_trait("web:2", "{targetSize: 4" + batches + ", batchPartition: 0}")), "");
  EXPECT_TRUE(has(sizes(), "3/3")) << json::print(trait());
  EXPECT_EQ(apply(with_trait("web:2", "{targetSize: 4" + batches + ", batchPartition: 1}")), "");
  EXPECT_TRUE(has(sizes(), "2/2")) << json::print(trait());
  const std::string back = apply(with_trait("web:2", "{targetSize: 4" + batches + ", batchPartition: 0}"));
  EXPECT_TRUE(has(back, "spec.components[0].traits[0].properties.batchPartition"));
  EXPECT_TRUE(has(back, "PartitionOnlyGrows"));
  EXPECT_EQ(apply(with_trait("web:2", "{targetSize: 4" + batches + "}")), "");
  EXPECT_TRUE(has(sizes(), "4/4")) << json::print(trait());
  EXPECT_EQ(revisions(), "a-v1 a-v2");
  EXPECT_EQ(phase(), "running") << why();
}

TEST_F(Plans, of_the_trait_do_not_name_its_revisions) {
  ASSERT_EQ(apply(with_trait("web:1", "{targetSize: 2}")), "");
  const Value target = trait()["spec"]["targetRevisionName"];
  const std::string two = with_trait("web:1", "{targetSize: 3}");
  // Another component makes a revision, of which this one is as it was.
  Value more = yaml(two);
  const Value other = yaml("{name: other, type: worker, properties: {image: 'other:1'}}");
  more = more.with_path({"spec", "components"}, more["spec"]["components"].with_item(1, other));
  ASSERT_EQ(apply(json::print(more)), "");
  EXPECT_EQ(revisions(), "a-v1 a-v2");
  EXPECT_EQ(trait()["spec"]["targetRevisionName"], target);
  EXPECT_TRUE(has(sizes(), "3/3"));
}

}  // namespace
}  // namespace slipway::oracle_test

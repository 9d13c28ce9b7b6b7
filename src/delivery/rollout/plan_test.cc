#include "delivery/rollout/plan.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"
#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::rollout {
namespace {

const char* const kTrait = R"(
apiVersion: standard.oam.dev/v1alpha1
kind: RolloutTrait
metadata: {name: web}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web-v2}
  sourceRef: [{apiVersion: apps/v1, kind: Deployment, name: web-v1}]
  rolloutPlan:
    batchPartition: 1
    gates: [{name: freeze, at: initialize, window: {rrule: FREQ=DAILY}}]
    traffic: {provider: nginx}
    rolloutBatches:
      - {replicas: 10%, gates: [{name: errors, metric: {address: 'http://prometheus', query: q, max: 1}}], traffic: {weight: 5}}
      - {replicas: 10%, gates: [{name: ok, approval: {}}]}
      - {replicas: 5%, canaryMetric: [{name: errors, templateRef: {name: t}}]}
      - {maxUnavailable: 50%}
)";

kube::Object deployment(const std::string& name, const std::string& spec) {
  return yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + "}, spec: " + spec + "}");
}

/// What `slipway rollout plan` says of these objects, or the refusal.
std::string said(const std::vector<kube::Object>& objects, const std::map<std::string, std::string>& options = {}) {
  ManualEnv env;
  CommandCall call{.env = env, .client = nullptr, .ns = "default", .words = {}, .objects = {}, .options = options};
  for (const kube::Object& object : objects) call.objects.push_back({.object = object, .source = "web.yaml:1"});
  std::string out = "nothing";
  env.spawn([](CommandCall made, std::string& into) -> Task<> {
    const auto answer = co_await plan_command().run(std::move(made));
    into = answer ? answer->text : answer.error().message;
  }(std::move(call), out));
  env.run_until_idle();
  return out;
}

TEST(RolloutPlan, is_printed_batch_by_batch_from_files) {
  EXPECT_EQ(said({yaml(kTrait), deployment("web-v1", "{replicas: 10}")}),
            "RolloutTrait/web: Deployment/web-v1 -> Deployment/web-v2: 10 pods in 4 batches, IncreaseFirst\n"
            "first: initialize freeze (window)\n"
            "BATCH  NEW  OLD  CHANGED  UNAVAILABLE  TRAFFIC  GATES                  NOTE\n"
            "0      1    9    1        0            5 %      after errors (metric)\n"
            "1      2    8    1        0            20 %     after ok (approval)\n"
            "2      3    7    1        0            30 %     after errors (metric)\n"
            "3      10   0    7        5            100 %    -\n"
            "stops after batch 1 until the partition grows\n");
}

TEST(RolloutPlan, takes_the_size_from_an_option_or_the_files) {
  const std::string from_option = said({yaml(kTrait)}, {{"size", "20"}});
  EXPECT_TRUE(from_option.contains("20 pods in 4 batches")) << from_option;
  EXPECT_TRUE(said({yaml(kTrait), deployment("web-v1", "{}")}).contains(": 1 pods")) << "absent replicas are one";
  EXPECT_TRUE(said({yaml(kTrait)}).contains("the size is not known: give --size N"));
  EXPECT_TRUE(said({yaml(kTrait)}, {{"size", "many"}}).contains("--size many: must be a number of pods"));
}

TEST(RolloutPlan, of_fields_needs_no_size) {
  const auto text = [](const char* plan) {
    return said(
        {yaml(kTrait)
             .without_path({"spec", "sourceRef"})
             .with_path({"spec", "targetRef"}, yaml("{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: s}"))
             .with_path({"spec", "rolloutPlan"}, yaml(plan))});
  };
  EXPECT_EQ(text("{rolloutBatches: [{replicas: 50%}, {}]}"),
            "RolloutTrait/web: HorizontalPodAutoscaler/s: fields in 2 batches, of 100\n"
            "BATCH  AT   OLD  CHANGED  UNAVAILABLE  TRAFFIC  GATES  NOTE\n"
            "0      50   50   50       0            -        -\n"
            "1      100  0    50       0            -        -\n");
  EXPECT_TRUE(text("{targetSize: 4, numBatches: 2}").contains("fields in 2 batches, of 4"));
}

TEST(RolloutPlan, says_which_batches_add_no_pod) {
  const std::string text = said({yaml(kTrait)}, {{"size", "2"}});
  EXPECT_TRUE(text.contains("adds no pod: hooks run\n")) << text;
  EXPECT_TRUE(text.contains("adds no pod: hooks run, no metric can pass\n")) << text;
}

TEST(RolloutPlan, of_a_scale_goes_from_one_size_to_the_other) {
  const kube::Object scale = yaml(kTrait)
                                 .without_path({"spec", "sourceRef"})
                                 .with_path({"spec", "rolloutPlan"}, yaml("{targetSize: 2, numBatches: 4}"));
  EXPECT_EQ(said({scale, deployment("web-v2", "{replicas: 10}")}),
            "RolloutTrait/web: Deployment/web-v2: from 10 to 2 pods in 4 batches\n"
            "BATCH  PODS  OLD  CHANGED  UNAVAILABLE  TRAFFIC  GATES  NOTE\n"
            "0      8     -    2        0            -        -\n"
            "1      6     -    2        0            -        -\n"
            "2      4     -    2        0            -        -\n"
            "3      2     -    2        0            -        -\n");
  EXPECT_TRUE(said({scale.without_path({"spec", "rolloutPlan", "targetSize"})}, {{"size", "3"}}).contains("a scale needs it"));
}

TEST(RolloutPlan, says_how_sizes_that_differ_are_met) {
  const kube::Object grows = yaml(kTrait).with_path({"spec", "rolloutPlan"}, yaml("{targetSize: 12}"));
  EXPECT_TRUE(said({grows}, {{"size", "10"}}).contains("the target gets 2 pods, so that there are 12"));
  const kube::Object shrinks = yaml(kTrait).with_path({"spec", "rolloutPlan"}, yaml("{targetSize: 7}"));
  EXPECT_TRUE(said({shrinks}, {{"size", "10"}}).contains("the sources shrink by 3 pods to 7"));
}

TEST(RolloutPlan, tells_faults_with_their_places) {
  const kube::Object wrong =
      yaml(kTrait).with_path({"spec", "rolloutPlan"}, yaml("{batchPartition: 1, lastBatchToRollout: 2}"));
  const std::string text = said({wrong}, {{"size", "3"}});
  EXPECT_TRUE(text.contains("web.yaml:1: spec.rolloutPlan.lastBatchToRollout: ")) << text;
  const kube::Object misspelt = yaml(kTrait).with_path({"spec", "rolloutPlan"}, yaml("{rolloutBatchs: [{replicas: 1}, {}]}"));
  EXPECT_EQ(said({misspelt}, {{"size", "3"}}), "web.yaml:1: unknown field \"spec.rolloutPlan.rolloutBatchs\"");
  EXPECT_EQ(said({deployment("web", "{}")}), "the files hold no RolloutTrait, Rollout or AppRollout");
}

}  // namespace
}  // namespace slipway::delivery::rollout

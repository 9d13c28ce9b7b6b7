// Known defects of KubeVela (its issue numbers), each as what happens here instead. docs/from-kubevela.md has the table; what
// is a matter of the engine alone stands in delivery/workflow/engine_test.cc.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using client::PatchType;
using std::chrono::minutes;
using std::chrono::seconds;

class Defects : public testing::Test {
 protected:
  Defects() { plane_.make_namespace("default"); }
  void apply(const std::string& text) {
    EXPECT_EQ(plane_.apply(yaml(text), "default"), "") << text;
    plane_.pass(seconds{2});
  }
  Value find(const char* version, const char* kind, const char* name) {
    return plane_.find(kHub, json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}}));
  }
  Value application() { return find("core.oam.dev/v1beta1", "Application", "a"); }
  std::string phase() { return application()["status"]["status"].str(); }
  Plane plane_{&image()};
};

/// A tracker of an earlier application of that name blocked the new one for ever.
TEST_F(Defects, kubevela_4286_a_tracker_that_was_left_over_blocks_nobody) {
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: ResourceTracker, metadata: {name: a-v1-default, labels: {
            app.oam.dev/name: a, app.oam.dev/namespace: default, app.oam.dev/uid: of-an-earlier-one}},
            spec: {type: versioned, applicationGeneration: 1}})");
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [
            {name: web, type: webservice, properties: {image: i}}]}})");
  plane_.pass(minutes{2});
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]);
}

/// A default in the key of a patched list kept items from being paired.
TEST_F(Defects, kubevela_6510_a_default_in_a_patch_key_is_a_key) {
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: TraitDefinition, metadata: {name: marks, namespace: vela-system}, spec: {
            schematic: {cue: {template: "parameter: container: *context.name | string\npatch: spec: template: spec: {\n\t// +patchKey=name\n\tcontainers: [{name: *parameter.container | string, env: [{name: \"A\", value: \"1\"}]}]\n}\n"}}}})");
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [
            {name: web, type: webservice, properties: {image: i}, traits: [{type: marks}]}]}})");
  plane_.pass(minutes{1});
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]);
  const Value containers = find("apps/v1", "Deployment", "web")["spec"]["template"]["spec"]["containers"];
  ASSERT_EQ(containers.size(), 1U);
  EXPECT_EQ(containers.item(0)["env"], yaml(R"([{name: A, value: "1"}])"));
}

/// Health was looked at every five minutes, and not at all after a failure.
TEST_F(Defects, kubevela_6639_health_follows_the_objects) {
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [
            {name: web, type: webservice, properties: {image: i}}]}})");
  plane_.pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  apply(R"({apiVersion: v1, kind: ConfigMap, metadata: {name: turns-bad, labels: {slipway.dev/pod-script: "true"}},
            data: {unready: "selector: app.oam.dev/component=web\nready-after: never\n"}})");
  plane_.pass(seconds{5});
  EXPECT_EQ(phase(), "unhealthy");
  EXPECT_EQ(application()["status"]["services"].item(0)["message"].as_string(), "Ready:0/1");
}

/// A run that was restarted while it ran skipped its steps for ever.
TEST_F(Defects, workflow_191_a_running_run_can_be_restarted) {
  apply(R"({apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: r}, spec: {workflowSpec: {steps: [
            {name: ask, type: suspend}, {name: say, type: print-message-in-status, properties: {message: m}}]}}})");
  const Value named = yaml("{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, namespace: default, name: r}");
  EXPECT_EQ(plane_.write_status(named, PatchType::Merge, yaml("{status: null}")), "");
  plane_.pass(seconds{5});
  EXPECT_EQ(find("core.oam.dev/v1alpha1", "WorkflowRun", "r")["status"]["status"].as_string(), "suspending");
  EXPECT_EQ(plane_.act(named, "workflow resume"), "");
  plane_.pass(seconds{30});
  EXPECT_EQ(find("core.oam.dev/v1alpha1", "WorkflowRun", "r")["status"]["status"].as_string(), "succeeded");
}

/// What a new spec no longer has was deleted before the new one had been delivered, or while a stale status said so (5240,
/// 5256, 4320).
TEST_F(Defects, kubevela_5256_nothing_is_deleted_before_the_new_workflow_has_succeeded) {
  const auto with = [](const char* component, const char* image) {
    return fmt::format(R"({{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [
            {{name: {}, type: webservice, properties: {{image: i, annotations: {{slipway.dev/ready-after: "{}"}}}}}}]}}}})",
                       component, image);
  };
  apply(with("old", "0s"));
  plane_.pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  apply(with("new", "never"));
  plane_.pass(minutes{5});
  EXPECT_EQ(phase(), "runningWorkflow");
  EXPECT_FALSE(find("apps/v1", "Deployment", "old").is_null()) << "the new one is not healthy";
  apply(with("new", "0s"));
  plane_.pass(minutes{2});
  EXPECT_EQ(phase(), "running");
  EXPECT_TRUE(find("apps/v1", "Deployment", "old").is_null());
}

}  // namespace
}  // namespace slipway::oracle_test

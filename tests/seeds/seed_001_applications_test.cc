// Promises of the rollout design (seed 001) about Applications; promises.tsv lists them all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "application_world.h"

namespace slipway::seeds_test {
namespace {

class Seed001Applications : public ApplicationWorld {
 protected:
  static std::string web(const std::string& image, const std::string& more = "", const std::string& annotations = "",
                         const std::string& traits = "{type: scaler, properties: {replicas: 2}}") {
    return fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a, annotations: {{{}}}}}, spec: "
        "{{components: [{{name: web, type: webservice, properties: {{image: '{}'}}, traits: [{}]}}]{}}}}}",
        annotations, image, traits, more);
  }
};

TEST_F(Seed001Applications, only_a_changed_spec_makes_a_revision) {
  apply(web("web:1"));
  EXPECT_EQ(end(), "running web:succeeded");
  apply(web("web:1", "", "note: other"));
  pass(seconds{20});
  EXPECT_EQ(names("ApplicationRevision"), "a-v1");
  apply(web("web:2"));
  EXPECT_EQ(end(), "running web:succeeded");
  EXPECT_EQ(names("ApplicationRevision"), "a-v1 a-v2");
  EXPECT_EQ(application()["status"]["latestRevision"]["name"].as_string(), "a-v2");
}

TEST_F(Seed001Applications, a_template_of_a_rollout_is_not_delivered) {
  apply(web("web:1", "", "app.oam.dev/rollout-template: 'true'"));
  pass(std::chrono::minutes{10});
  EXPECT_EQ(names("Deployment"), "");
  EXPECT_NE(phase(), "running");
}

TEST_F(Seed001Applications, deleting_an_app_rollout_leaves_the_old_application_intact) {
  apply(web("web:1", ", workflow: {steps: [{name: hold, type: suspend}]}"));
  apply(web("web:2", ", workflow: {steps: [{name: hold, type: suspend}]}"));
  EXPECT_EQ(names("ApplicationRevision"), "a-v1 a-v2");
  const auto roll = [&](const char* name, const char* target, const char* source) {
    apply(
        fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: AppRollout, metadata: {{name: {}}}, spec: "
                    "{{targetAppRevisionName: {}{}, componentList: [web], revertOnDelete: true, rolloutPlan: {{rolloutBatches: "
                    "[{{replicas: 1}}, {{replicas: 1}}]{}}}}}}}",
                    name, target, source, *source == '\0' ? "" : ", batchPartition: 0"));
    pass(std::chrono::minutes{1});
  };
  roll("r", "a-v1", "");
  EXPECT_EQ(sizes(), "web-v1 2/2");
  roll("r", "a-v2", ", sourceAppRevisionName: a-v1");
  EXPECT_EQ(sizes(), "web-v1 1/1, web-v2 1/1");
  EXPECT_EQ(plane().remove(reference("core.oam.dev/v1beta1", "AppRollout", "r")), "");
  pass(std::chrono::minutes{1});
  EXPECT_TRUE(find("core.oam.dev/v1beta1", "AppRollout", "r").is_null());
  EXPECT_EQ(sizes(), "web-v1 2/2, web-v2 0/0");
}

TEST_F(Seed001Applications, a_component_with_the_trait_has_a_revision_for_each_content) {
  const std::string trait = "{type: rollout, properties: {targetSize: 2, rolloutBatches: [{replicas: 1}, {replicas: 1}]}}";
  apply(web("web:1", "", "", trait));
  EXPECT_EQ(end(), "running web:succeeded");
  const auto rollout = [&] { return find("standard.oam.dev/v1alpha1", "Rollout", "web")["spec"]; };
  const std::string first = rollout()["targetRevisionName"].str();
  EXPECT_EQ(names("ControllerRevision"), first);
  apply(web("web:2", "", "", trait));
  pass(seconds{1});
  const std::string second = rollout()["targetRevisionName"].str();
  EXPECT_NE(second, first);
  EXPECT_TRUE(names("ControllerRevision").contains(second)) << names("ControllerRevision");
  EXPECT_EQ(end(), "running web:succeeded");
  const Value status = find("standard.oam.dev/v1alpha1", "Rollout", "web")["status"];
  EXPECT_EQ(status["lastTargetRevision"].as_string(), second) << json::print(status);
  EXPECT_EQ(status["LastSourceRevision"].as_string(), first) << json::print(status);
}

}  // namespace
}  // namespace slipway::seeds_test

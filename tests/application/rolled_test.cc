// What an Application shows of components that a rollout delivers, and an Application that waits as a template.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/explain.h"
#include "delivery/family/template_owner.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "oracle_plane.h"
#include "oracle_status.h"
#include "plane/families.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::seconds;

/// Finds objects of the hub.
class Hub : public control::View {
 public:
  explicit Hub(Plane& plane) : plane_(plane) {}
  Value find(const Value& reference) const override { return plane_.find(kHub, reference); }
  std::vector<Value> owned_by(const Value& owner, const kube::GroupVersionKind& kind) const override {
    std::vector<Value> owned;
    for (const Value& object : plane_.all(kHub, "default")) {
      if (kube::kind(object) == kind.kind && kube::is_owned_by(object, kube::uid(owner))) owned.push_back(object);
    }
    return owned;
  }
  Time now() const override { return plane_.now(); }

 private:
  Plane& plane_;
};

class Rolled : public testing::Test {
 protected:
  void SetUp() override { plane_.make_namespace("default"); }

  std::string apply(const std::string& text, Duration time = seconds{60}) {
    const std::string refusal = plane_.apply(yaml(text), "default");
    plane_.pass(time);
    return refusal;
  }
  Value find(const char* version, const char* kind, const char* name) {
    return plane_.find(kHub, json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}}));
  }
  Value application(const char* name = "a") { return find("core.oam.dev/v1beta1", "Application", name); }
  Value rollout(const char* name = "a-web") { return find("core.oam.dev/v1beta1", "AppRollout", name); }
  std::string why(const char* name = "a") {
    const Hub hub(plane_);
    return control::print(control::explain(plane::explain_rows(), application(name), "", hub), plane_.now());
  }
  Value service(const std::string& component) {
    for (const Value& one : application()["status"]["services"].items()) {
      if (one["name"].as_string() == component) return one;
    }
    return {};
  }
  std::string sizes() {
    std::string text;
    for (const Value& object : plane_.all(kHub, "default")) {
      if (object["kind"].as_string() != "Deployment") continue;
      text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", kube::name(object),
                          object["status"]["readyReplicas"].as_int(), object["spec"]["replicas"].as_int());
    }
    return text;
  }
  static std::string with_plan(const std::string& image, const std::string& plan, const std::string& more = "") {
    return fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{rolloutPlan: {}, components: "
        "[{{name: web, type: webservice, properties: {{image: '{}', ports: [{{port: 80, expose: true}}]}}, traits: [{{type: "
        "scaler, properties: {{replicas: 4}}}}]}}{}]}}}}",
        plan, image, more);
  }
  static std::string waiting(const std::string& image, const std::string& spec = "") {
    return fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: next{}}}, spec: {{components: [{{name: web, "
        "type: webservice, properties: {{image: '{}'}}, traits: [{{type: scaler, properties: {{replicas: 2}}}}]}}]}}}}",
        spec, image);
  }
  static inline const std::string kTemplate = ", annotations: {app.oam.dev/rollout-template: 'true'}";
  static std::string roll(const std::string& plan) {
    return "{apiVersion: core.oam.dev/v1beta1, kind: AppRollout, metadata: {name: r}, spec: {targetAppRevisionName: next-v1, "
           "componentList: [web], rolloutPlan: " +
           plan + "}}";
  }
  Value reference(const char* kind, const char* name) {
    return json::object({{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
  }
  Plane plane_{&image()};
};

TEST_F(Rolled, components_without_pods_are_simply_applied) {
  const std::string more =
      ", {name: conf, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, "
      "data: "
      "{x: '1'}}]}}, {name: once, type: task, properties: {image: 'task:1', cmd: ['true']}}";
  ASSERT_EQ(apply(with_plan("web:1", "{numBatches: 1}", more), seconds{120}), "");
  EXPECT_FALSE(find("v1", "ConfigMap", "conf").is_null());
  EXPECT_FALSE(find("batch/v1", "Job", "a-once").is_null()) << json::print(application()["status"]);
  EXPECT_EQ(sizes(), "web-v1 4/4");
  EXPECT_TRUE(rollout("a-conf").is_null());
  EXPECT_EQ(application()["status"]["status"].as_string(), "running") << json::print(application()["status"]);
}

TEST_F(Rolled, status_goes_through_the_rollout_to_the_pods) {
  ASSERT_EQ(apply(with_plan("web:1", "{numBatches: 1}")), "");
  ASSERT_EQ(sizes(), "web-v1 4/4");
  Value web = service("web");
  EXPECT_TRUE(web["healthy"].as_bool()) << json::print(application()["status"]);
  EXPECT_EQ(web["workloadDefinition"]["kind"].as_string(), "Deployment");
  EXPECT_EQ(web["message"].as_string(), "Ready:4/4");
  ASSERT_EQ(apply(with_plan("web:2", "{numBatches: 2, batchPartition: 0}")), "");
  ASSERT_EQ(sizes(), "web-v1 2/2, web-v2 2/2");
  web = service("web");
  EXPECT_FALSE(web["healthy"].as_bool());
  EXPECT_TRUE(web["workloadHealthy"].as_bool()) << json::print(web);
  EXPECT_TRUE(web["message"].str().contains("batch 1 of 2, waits for partition 0")) << json::print(web);
  const std::string told = why();
  EXPECT_TRUE(told.contains("PartitionReached") && told.contains("slipway rollout promote approllout/a-web")) << told;
}

TEST_F(Rolled, why_goes_down_to_the_pod_that_is_not_ready) {
  ASSERT_EQ(apply(with_plan("web:1", "{numBatches: 1}")), "");
  std::string bad = with_plan("web:2", "{numBatches: 2}");
  bad.insert(bad.find("{type: scaler"), "{type: annotations, properties: {slipway.dev/ready-after: never}}, ");
  ASSERT_EQ(apply(bad), "");
  const std::string told = why();
  EXPECT_TRUE(told.contains("AppRollout") || told.contains("batch 0")) << told;
  EXPECT_TRUE(told.contains("Pod web-v2-") || told.contains("pods of Deployment/web-v2")) << told;
}

TEST_F(Rolled, the_trait_shows_its_workload) {
  const std::string app =
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type: "
      "webservice, properties: {image: 'web:1'}, traits: [{type: rollout, properties: {targetSize: 3}}]}]}}";
  ASSERT_EQ(apply(app), "");
  EXPECT_TRUE(service("web")["healthy"].as_bool()) << json::print(application()["status"]);
  EXPECT_EQ(service("web")["message"].as_string(), "Ready:3/3");
}

/// The column STATUS shows the first service, the column COMPONENT the first component.
TEST_F(Rolled, services_are_in_the_order_of_the_components) {
  const auto app = [](int number, const char* ready) {
    return fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{{name: web, type: "
        "webservice, properties: {{image: 'web:{0}'}}, traits: [{{type: annotations, properties: {{slipway.dev/ready-after: "
        "{1}}}}}, {{type: rollout, properties: {{targetSize: 2}}}}]}}, {{name: oth, type: webservice, properties: {{image: "
        "'oth:{0}'}}}}], workflow: {{mode: {{steps: StepByStep}}, steps: [{{name: two, type: apply-component, "
        "properties: {{component: oth}}}}, {{name: one, type: apply-component, properties: {{component: web}}}}]}}}}}}",
        number, ready);
  };
  for (const int number : {1, 2}) {
    ASSERT_EQ(apply(app(number, "8s"), seconds{120}), "");
    const Value services = application()["status"]["services"];
    ASSERT_EQ(services.size(), 2U) << json::print(services);
    EXPECT_EQ(services.item(0)["name"].as_string(), "web") << number << " " << json::print(services);
    EXPECT_EQ(services.item(1)["name"].as_string(), "oth") << number;
  }
}

TEST_F(Rolled, a_template_is_rendered_and_nothing_of_it_is_applied) {
  ASSERT_EQ(apply(waiting("next:1", kTemplate)), "");
  EXPECT_FALSE(find("core.oam.dev/v1beta1", "ApplicationRevision", "next-v1").is_null());
  EXPECT_FALSE(find("v1", "ConfigMap", "next-v1").is_null());
  EXPECT_EQ(sizes(), "");
  EXPECT_TRUE(why("next").contains("apply an AppRollout with targetAppRevisionName next-v1")) << why("next");
  ASSERT_EQ(apply(waiting("next:2", kTemplate)), "");
  EXPECT_FALSE(find("v1", "ConfigMap", "next-v2").is_null()) << "a change makes a revision";
  EXPECT_EQ(plane_.remove(reference("Application", "next")), "");
  plane_.pass(seconds{60});
  EXPECT_TRUE(application("next").is_null());
  EXPECT_TRUE(find("v1", "ConfigMap", "next-v1").is_null());
}

TEST_F(Rolled, a_rollout_takes_charge_of_a_template_and_gives_it_back) {
  ASSERT_EQ(apply(waiting("next:1", kTemplate)), "");
  ASSERT_EQ(apply(roll("{rolloutBatches: [{replicas: 1}, {replicas: 1}], batchPartition: 0}")), "");
  const Value held = application("next");
  EXPECT_FALSE(delivery::is_rollout_template(held)) << "adjusted: it is a template no more";
  EXPECT_EQ(delivery::rolled_out_by(held)["uid"].as_string(), kube::uid(rollout("r"))) << json::print(held);
  EXPECT_EQ(held["metadata"]["ownerReferences"].size(), 0U);
  EXPECT_EQ(sizes(), "web-v1 1/1");
  EXPECT_TRUE(why("next").contains("slipway rollout promote approllout/r")) << why("next");
  plane_.pass(std::chrono::minutes{10});
  EXPECT_EQ(sizes(), "web-v1 1/1") << "nothing else delivers it meanwhile";
  ASSERT_EQ(plane_.merge(reference("AppRollout", "r"), yaml("{spec: {rolloutPlan: {batchPartition: 1}}}")), "");
  plane_.pass(seconds{60});
  EXPECT_EQ(rollout("r")["status"]["rollingState"].as_string(), "rolloutSucceed") << json::print(rollout("r"));
  EXPECT_TRUE(delivery::rolled_out_by(application("next")).is_null());
  EXPECT_EQ(application("next")["status"]["status"].as_string(), "running") << json::print(application("next"));
}

TEST_F(Rolled, a_template_comes_back_when_its_rollout_is_deleted) {
  ASSERT_EQ(apply(waiting("next:1", kTemplate)), "");
  ASSERT_EQ(apply(roll("{numBatches: 1, paused: true}")), "");
  EXPECT_TRUE(delivery::is_rollout_template(application("next"))) << "nothing was adjusted yet";
  EXPECT_FALSE(delivery::rolled_out_by(application("next")).is_null());
  EXPECT_EQ(plane_.remove(reference("AppRollout", "r")), "");
  plane_.pass(seconds{30});
  EXPECT_TRUE(rollout("r").is_null());
  EXPECT_TRUE(delivery::is_rollout_template(application("next")));
  EXPECT_TRUE(delivery::rolled_out_by(application("next")).is_null());
  EXPECT_EQ(sizes(), "");
}

TEST_F(Rolled, what_was_reverted_takes_no_effect) {
  ASSERT_EQ(apply(waiting("next:1", kTemplate)), "");
  ASSERT_EQ(apply(roll("{rolloutBatches: [{replicas: 1}, {replicas: 1}], batchPartition: 0, revertOnDelete: true}")), "");
  ASSERT_EQ(sizes(), "web-v1 1/1");
  EXPECT_EQ(plane_.remove(reference("AppRollout", "r")), "");
  plane_.pass(seconds{90});
  EXPECT_TRUE(rollout("r").is_null());
  EXPECT_EQ(sizes(), "web-v1 0/0");
  EXPECT_FALSE(delivery::rolled_out_by(application("next")).is_null()) << "held: another rollout may take it";
  ASSERT_EQ(apply(roll("{numBatches: 1}")), "");
  EXPECT_EQ(delivery::rolled_out_by(application("next")), Value()) << json::print(application("next"));
}

TEST_F(Rolled, resume_names_the_approval_that_is_waited_for) {
  const std::string app =
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type: "
      "webservice, properties: {image: 'IMAGE'}, traits: [{type: scaler, properties: {replicas: 2}}]}], workflow: {steps: "
      "[{name: first, type: blue-green-rollout}, {name: rest, type: rollout-promotion}]}}}";
  const auto with = [&](const char* image) { return std::string(app).replace(app.find("IMAGE"), 5, image); };
  ASSERT_EQ(apply(with("web:1")), "");
  ASSERT_EQ(apply(with("web:2")), "");
  const std::string refusal = plane_.act(reference("Application", "a"), "workflow resume");
  EXPECT_TRUE(refusal.contains("slipway rollout approve approllout/a-web -n default")) << refusal;
}

}  // namespace
}  // namespace slipway::oracle_test

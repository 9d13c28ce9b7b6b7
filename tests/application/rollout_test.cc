// Applications and rollouts together: an application that rolls its revisions out, the trait rollout, and a rollout over what
// an application delivers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "delivery/application/show.h"
#include "delivery/family/claimed_fields.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "oracle_plane.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::seconds;

class AppRollouts : public testing::Test {
 protected:
  void SetUp() override { plane_.make_namespace("default"); }

  void apply(const std::string& yaml) {
    const auto objects = json::parse_yaml_all(yaml);
    ASSERT_TRUE(objects) << objects.error().message;
    for (const json::YamlDocument& one : *objects) EXPECT_EQ(plane_.apply(one.value, "default"), "");
    plane_.pass(seconds{3});
  }
  Value find(const char* version, const char* kind, const char* name) {
    return plane_.find(kHub, json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}}));
  }
  static Value reference(const char* kind, const char* name) {
    return json::object({{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
  }
  std::string end(const char* application = "a") {
    const End end = await_end(plane_, reference("Application", application));
    std::string text = phase_of(end.target);
    for (const Value& step : steps_of(end.target).items()) {
      text += fmt::format(" {}:{}", step["name"].as_string(), step["phase"].as_string());
    }
    return text;
  }
  std::string why() { return json::print(find("core.oam.dev/v1beta1", "Application", "a")["status"]); }
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
  static std::string application(const std::string& image, const std::string& spec, const std::string& traits = "") {
    return fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{{name: web, type: "
        "webservice, properties: {{image: '{}'}}, traits: [{}]}}]{}}}}}",
        image, traits, spec);
  }
  Plane plane_{&image()};
};

TEST_F(AppRollouts, a_plan_of_an_application_rolls_its_revisions_out) {
  const std::string plan = ", rolloutPlan: {numBatches: 2}";
  const std::string scaler = "{type: scaler, properties: {replicas: 4}}";
  apply(application("web:1", plan, scaler));
  EXPECT_EQ(end(), "running web:succeeded") << why();
  EXPECT_EQ(sizes(), "web-v1 4/4");
  EXPECT_EQ(kube::annotation(find("core.oam.dev/v1beta1", "ApplicationRevision", "a-v1"), "app.oam.dev/appconfig-rollout"),
            "true");
  apply(application("web:2", plan, scaler));
  EXPECT_EQ(end(), "running web:succeeded") << why();
  EXPECT_EQ(sizes(), "web-v1 0/0, web-v2 4/4");
  EXPECT_EQ(plane_.remove(reference("Application", "a")), "");
  plane_.pass(seconds{60});
  EXPECT_EQ(sizes(), "") << "what was made of an application goes with it";
}

TEST_F(AppRollouts, a_plan_takes_over_what_was_delivered_whole) {
  const std::string scaler = "{type: scaler, properties: {replicas: 3}}";
  apply(application("web:1", "", scaler));
  EXPECT_EQ(end(), "running web:succeeded") << why();
  EXPECT_EQ(sizes(), "web 3/3");
  EXPECT_EQ(kube::annotation(find("core.oam.dev/v1beta1", "ApplicationRevision", "a-v1"), "app.oam.dev/appconfig-rollout"), "")
      << "no plan of its own";
  apply(application("web:2", ", rolloutPlan: {numBatches: 3}", scaler));
  EXPECT_EQ(end(), "running web:succeeded") << why();
  EXPECT_EQ(sizes(), "web-v2 3/3") << "what the application no longer delivers is collected";
}

TEST_F(AppRollouts, blue_green_begins_anew_with_each_revision) {
  const std::string steps =
      ", workflow: {steps: [{name: first, type: blue-green-rollout, properties: {traffic: {provider: nginx, ingressRef: {name: "
      "web}, service: web, drainSeconds: 1}}}, {name: shift, type: traffic-shift}, {name: rest, type: rollout-promotion, "
      "properties: {manualApproval: false}}]}";
  apply(
      "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: nginx, rules: [{host: "
      "web.example.org, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}");
  for (int version = 1; version <= 3; ++version) {
    Value app =
        *json::parse_yaml(application(fmt::format("web:{}", version), steps, "{type: scaler, properties: {replicas: 2}}"));
    const Value ports = *json::parse_yaml("[{port: 80, expose: true}]");
    app = app.with_path({"spec", "components"},
                        json::array({app["spec"]["components"].item(0).with_path({"properties", "ports"}, ports)}));
    apply(json::print(app));
    EXPECT_EQ(end(), "running first:succeeded shift:succeeded rest:succeeded") << why();
  }
  EXPECT_EQ(sizes(), "web-v1 0/0, web-v2 0/0, web-v3 2/2");
  const Value status = find("core.oam.dev/v1beta1", "AppRollout", "a-web")["status"];
  EXPECT_EQ(status["goals"].size(), 3U) << json::print(status);
}

/// Finds objects of the hub.
class HubView : public control::View {
 public:
  explicit HubView(Plane& plane) : plane_(plane) {}
  Value find(const Value& reference) const override { return plane_.find(kHub, reference); }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return {}; }

 private:
  Plane& plane_;
};

TEST_F(AppRollouts, why_names_the_trait_that_is_not_healthy_and_its_object) {
  const std::string trait = "{type: rollout, properties: {targetSize: 2, rolloutBatches: [{replicas: 1}, {replicas: 1}]BOUND}}";
  const auto with = [&](std::string bound) { return std::string(trait).replace(trait.find("BOUND"), 5, bound); };
  apply(application("web:1", "", with("")));
  EXPECT_EQ(end(), "running web:succeeded") << why();
  apply(application("web:2", "", with(", batchPartition: 0")));
  plane_.pass(seconds{60});
  const HubView view(plane_);
  const Value app = find("core.oam.dev/v1beta1", "Application", "a");
  for (const control::ExplainRow& row : delivery::application::explain_rows()) {
    if (row.kind != "Application") continue;
    const auto waits = row.open(app, view)("");
    ASSERT_EQ(waits.size(), 2U) << why();
    EXPECT_EQ(waits[0].on, "step \"web\"");
    EXPECT_EQ(waits[1].on, "trait \"rollout\" of component \"web\" in local/default");
    EXPECT_EQ(waits[1].next["kind"].as_string(), "Rollout");
  }
}

TEST_F(AppRollouts, the_application_leaves_what_a_rollout_has_claimed) {
  apply(application("web:1", "", "{type: scaler, properties: {replicas: 4}}"));
  EXPECT_EQ(end(), "running web:succeeded") << why();
  apply(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: next}, spec: {replicas: 0, selector: {matchLabels: {app: "
      "next}}, "
      "template: {metadata: {labels: {app: next}}, spec: {containers: [{name: main, image: 'web:2'}]}}}}");
  apply(
      "{apiVersion: standard.oam.dev/v1alpha1, kind: RolloutTrait, metadata: {name: r}, spec: {targetRef: {apiVersion: "
      "apps/v1, "
      "kind: Deployment, name: next}, sourceRef: [{apiVersion: apps/v1, kind: Deployment, name: web}], rolloutPlan: "
      "{numBatches: 2, batchPartition: 0}}}");
  plane_.pass(seconds{60});
  EXPECT_EQ(sizes(), "next 2/2, web 2/2");
  EXPECT_EQ(kube::annotation(find("apps/v1", "Deployment", "web"), delivery::kClaimedFields), "spec.replicas,spec.paused");
  // The application looks for drift meanwhile, and is delivered again.
  plane_.pass(std::chrono::minutes{20});
  EXPECT_EQ(sizes(), "next 2/2, web 2/2") << "not repaired";
  apply(application("web:1", "", "{type: scaler, properties: {replicas: 4}}, {type: labels, properties: {team: x}}"));
  EXPECT_EQ(end(), "running web:succeeded") << why();
  EXPECT_EQ(kube::label(find("apps/v1", "Deployment", "web"), "team"), "x");
  EXPECT_EQ(sizes(), "next 2/2, web 2/2") << "not applied";
}

TEST_F(AppRollouts, the_trait_scales_by_batches_at_first) {
  const char* file = "kubevela/kubevela__kubevela/docs/examples/workflow/rollout/first-scale.yaml";
  const char* corpus = std::getenv("SLIPWAY_CORPUS");
  const auto root =
      corpus != nullptr ? std::filesystem::path(corpus) : std::filesystem::path(SLIPWAY_SOURCE_DIR) / "../shared/corpus";
  std::ifstream in(root / file);
  if (!in) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  std::stringstream text;
  text << in.rdbuf();
  apply(text.str());
  EXPECT_EQ(end("rollout-multi-comp"), "running rollout-back-end:succeeded rollout-front-end:succeeded")
      << json::print(find("core.oam.dev/v1beta1", "Application", "rollout-multi-comp")["status"]);
  EXPECT_EQ(sizes(), "backend-v1 2/2, front-end-v1 4/4");
}

}  // namespace
}  // namespace slipway::oracle_test

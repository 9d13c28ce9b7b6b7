// The step rollback, from each way of delivery to each: the older version serves with all its pods again, what the newer one
// has made is gone, its Service stays the same object with the older version's port, and the pods stay within 2T meanwhile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/object.h"
#include "stage.h"

namespace slipway::handover_test {
namespace {

using std::chrono::minutes;

constexpr std::int64_t kPods = 4;

/// How the newer version is delivered before it is rolled back.
enum class Newer : std::uint8_t { Normal, BlueGreen, FirstBatch, Plan, Trait };
constexpr Newer kNewer[] = {Newer::Normal, Newer::BlueGreen, Newer::FirstBatch, Newer::Plan, Newer::Trait};

std::string_view name_of(Newer newer) {
  switch (newer) {
    case Newer::Normal:
      return "Normal";
    case Newer::BlueGreen:
      return "BlueGreen";
    case Newer::FirstBatch:
      return "FirstBatch";
    case Newer::Plan:
      return "Plan";
    case Newer::Trait:
      return "Trait";
  }
  return "";
}

Newer same_way(Way way) {
  if (way == Way::BlueGreen) return Newer::BlueGreen;
  if (way == Way::Plan) return Newer::Plan;
  return way == Way::Trait ? Newer::Trait : Newer::Normal;
}

/// One version with an explicit workflow.
struct Build {
  Newer way = Newer::Normal;
  int number = 1;
  bool rolls_back = false;
  bool is_bad = false;            // its pods are never ready
  std::int64_t replicas = kPods;  // 0: not declared
  bool is_scaled = false;
  bool has_extra = false;  // a second component
};

std::string steps_of(const Build& build) {
  const char* limit = build.is_bad ? ", timeout: 60s" : "";
  std::string steps;
  switch (build.way) {
    case Newer::Normal:
    case Newer::Trait:
      steps = fmt::format("{{name: go, type: apply-component, properties: {{component: web}}{}}}", limit);
      break;
    case Newer::BlueGreen:
      steps = fmt::format(
          "{{name: go, type: blue-green-rollout{0}}}, {{name: rest, type: rollout-promotion, properties: "
          "{{manualApproval: false}}{0}}}",
          limit);
      break;
    case Newer::FirstBatch:
      steps = fmt::format("{{name: go, type: blue-green-rollout{}}}", limit);
      break;
    case Newer::Plan:
      steps = fmt::format(
          "{{name: go, type: app-rollout, properties: {{component: web, plan: {{rolloutBatches: [{{replicas: "
          "50%}}, {{replicas: 50%}}]}}}}{}}}",
          limit);
      break;
  }
  if (build.rolls_back) steps += ", {name: back, type: rollback, if: always}";
  return steps;
}

Value application_of(const Build& build) {
  std::string traits =
      fmt::format("{{type: annotations, properties: {{slipway.dev/ready-after: {}}}}}", build.is_bad ? "never" : "4s");
  if (build.way == Newer::Trait) {
    traits += fmt::format(
        ", {{type: rollout, properties: {{targetSize: {}, rolloutBatches: [{{replicas: 50%}}, {{replicas: 50%}}]}}}}", kPods);
  } else if (build.is_scaled) {
    traits += ", {type: hpa, properties: {min: 4, max: 8}}";
  } else if (build.replicas > 0) {
    traits += fmt::format(", {{type: scaler, properties: {{replicas: {}}}}}", build.replicas);
  }
  const char* extra = build.has_extra ? ", {name: extra, type: webservice, properties: {image: 'extra:1', ports: [{port: 80, "
                                        "expose: true}]}, traits: [{type: scaler, properties: {replicas: 1}}]}"
                                      : "";
  return oracle_test::yaml(fmt::format(
      "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [{{name: web, type: "
      "webservice, properties: {{image: 'web:{0}', ports: [{{port: {1}, expose: true}}]}}, traits: [{2}]}}{4}], workflow: "
      "{{steps: "
      "[{3}]}}}}}}",
      build.number, 80 + build.number, traits, steps_of(build), extra));
}

class RollbackStage : public Stage {
 public:
  void apply_build(const Build& build) {
    const Value wanted = application_of(build);
    static const Value kReference = json::object(
        {{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", "default"}, {"name", "a"}});
    ASSERT_EQ(application().is_null() ? plane().apply(wanted, "default") : plane().merge(kReference, wanted), "");
  }
  void deliver_build(const Build& build) {
    apply_build(build);
    const std::string image = fmt::format("web:{} {}", build.number, kPods);
    ASSERT_TRUE(until([&] { return phase() == "running" && images() == image; })) << build.number << "\n" << story();
    pass(minutes{1});
  }
  /// Applies a version that is rolled back, and waits for that.
  void roll_back(const Build& build, const std::string& revision) {
    apply_build(build);
    const auto is_over = [&] {
      return phase() == "workflowFailed" && application()["status"]["rolledBackTo"].as_string() == revision;
    };
    ASSERT_TRUE(until(is_over, minutes{20})) << story();
  }
  void expect_served_by(int number) {
    EXPECT_EQ(images(), fmt::format("web:{} {}", number, kPods)) << story();
    const Value service = find("v1", "Service", "web");
    ASSERT_FALSE(service.is_null()) << story();
    EXPECT_EQ(service["spec"]["ports"].item(0)["port"].as_int(), 80 + number) << story();
    const Value& services = application()["status"]["services"];
    ASSERT_EQ(services.size(), 1U) << json::print(services);
    EXPECT_TRUE(services.item(0)["healthy"].as_bool()) << json::print(services);
    EXPECT_EQ(fault(), "") << story();
  }
};

class Rollback : public testing::TestWithParam<std::tuple<Way, Newer>> {
 protected:
  void SetUp() override {
    stage_.watch({.whole = kPods, .unavailable = 1, .surge = kPods});
    for (const int number : {1, 2}) stage_.deliver_build({.way = same_way(older()), .number = number});
  }
  static Way older() { return std::get<0>(GetParam()); }
  static Newer newer() { return std::get<1>(GetParam()); }
  void expect_restored() {
    stage_.expect_served_by(2);
    const bool is_rolled = older() == Way::BlueGreen || older() == Way::Plan;
    EXPECT_EQ(stage_.rollout(Way::Plan).is_null(), !is_rolled) << stage_.story();
    EXPECT_EQ(stage_.rollout(Way::Trait).is_null(), older() != Way::Trait) << stage_.story();
    const std::string before = stage_.sizes();
    stage_.pass(minutes{10});
    EXPECT_EQ(stage_.sizes(), before) << "it stays so";
    stage_.expect_served_by(2);
    stage_.deliver_build({.way = newer() == Newer::FirstBatch ? Newer::BlueGreen : newer(), .number = 4});
    EXPECT_EQ(stage_.application()["status"]["rolledBackTo"].as_string(), "");
    EXPECT_EQ(stage_.fault(), "") << stage_.story();
    EXPECT_EQ(stage_.left_after_deletion(), "");
  }

  RollbackStage stage_;
};

TEST_P(Rollback, the_older_version_serves_again) {
  stage_.roll_back({.way = newer(), .number = 3, .rolls_back = true}, "a-v2");
  expect_restored();
}

TEST_P(Rollback, the_older_version_serves_again_in_place_of_pods_that_are_never_ready) {
  stage_.roll_back({.way = newer(), .number = 3, .rolls_back = true, .is_bad = true}, "a-v2");
  expect_restored();
}

std::string rollback_name(const testing::TestParamInfo<std::tuple<Way, Newer>>& ways) {
  return fmt::format("{}To{}", name_of(std::get<1>(ways.param)), name_of(std::get<0>(ways.param)));
}

INSTANTIATE_TEST_SUITE_P(Ways, Rollback,
                         testing::Combine(testing::Values(Way::Normal, Way::BlueGreen, Way::Plan, Way::Trait),
                                          testing::ValuesIn(kNewer)),
                         rollback_name);

/// A rolled-out version of several revisions before, with another attempt that was given up between them.
TEST(RollbackOver, an_attempt_that_was_given_up) {
  RollbackStage stage;
  stage.watch({.whole = kPods, .unavailable = 1, .surge = kPods});
  stage.deliver_build({.way = Newer::BlueGreen, .number = 1});
  stage.apply_build({.way = Newer::FirstBatch, .number = 2, .is_bad = true});
  ASSERT_TRUE(stage.until([&] { return stage.phase() == "workflowFailed"; })) << stage.story();
  stage.roll_back({.way = Newer::Normal, .number = 3, .rolls_back = true}, "a-v1");
  stage.expect_served_by(1);
  EXPECT_EQ(stage.left_after_deletion(), "");
}

TEST(RollbackOver, components_that_only_one_of_the_versions_has) {
  for (const Newer older : {Newer::BlueGreen, Newer::Plan}) {
    for (const Newer newer : {Newer::BlueGreen, Newer::FirstBatch}) {
      RollbackStage stage;
      stage.deliver_build({.way = older, .number = 1});
      stage.roll_back({.way = newer, .number = 2, .rolls_back = true, .has_extra = true}, "a-v1");
      stage.pass(minutes{1});
      stage.expect_served_by(1);
      for (const auto& [kind, version] :
           {std::pair("Deployment", "apps/v1"), std::pair("Service", "v1"), std::pair("AppRollout", "core.oam.dev/v1beta1")}) {
        for (const char* name : {"extra", "extra-v2", "a-extra"}) {
          EXPECT_TRUE(stage.find(version, kind, name).is_null()) << kind << "/" << name << "\n" << stage.story();
        }
      }
      EXPECT_EQ(stage.left_after_deletion(), "");
    }
  }
}

/// The size that was set by hand is that of the version that serves again.
TEST(RollbackOver, replicas_that_are_not_declared) {
  for (const Newer newer : {Newer::BlueGreen, Newer::FirstBatch}) {
    RollbackStage stage;
    stage.apply_build({.number = 1, .replicas = 0});
    ASSERT_TRUE(stage.until([&] { return stage.phase() == "running"; })) << stage.story();
    ASSERT_EQ(stage.plane().merge(
                  json::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"namespace", "default"}, {"name", "web"}}),
                  oracle_test::yaml("{spec: {replicas: 4}}")),
              "");
    ASSERT_TRUE(stage.until([&] { return stage.serving() == "web 4/4"; })) << stage.story();
    stage.watch({.whole = kPods, .unavailable = 1, .surge = kPods});
    stage.roll_back({.way = newer, .number = 2, .rolls_back = true, .replicas = 0}, "a-v1");
    stage.expect_served_by(1);
    EXPECT_EQ(stage.serving(), "web 4/4") << name_of(newer);
  }
}

TEST(RollbackOver, autoscalers_scale_what_serves) {
  for (const auto& [older, newer, name] :
       {std::tuple(Newer::BlueGreen, Newer::Normal, "web-v1"), std::tuple(Newer::Normal, Newer::BlueGreen, "web")}) {
    RollbackStage stage;
    stage.watch({.whole = kPods, .unavailable = 1, .surge = kPods});
    stage.deliver_build({.way = older, .number = 1, .is_scaled = true});
    stage.roll_back({.way = newer, .number = 2, .rolls_back = true, .is_scaled = true}, "a-v1");
    stage.expect_served_by(1);
    EXPECT_EQ(stage.find("autoscaling/v2", "HorizontalPodAutoscaler", "web")["spec"]["scaleTargetRef"]["name"].as_string(),
              name)
        << stage.story();
  }
}

}  // namespace
}  // namespace slipway::handover_test

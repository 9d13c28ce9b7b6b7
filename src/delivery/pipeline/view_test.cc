#include "delivery/pipeline/view.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/scene_test.h"

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::hours;

/// A target of dev that runs `version` of chart podinfo since `running`, settled since `since`.
TargetView target(const std::string& version, Time running, Time since) {
  TargetView view;
  view.memory.last.running = {.text = version, .digest = "", .time = running};
  view.memory.last.ready_at = version;
  view.memory.last.chart = "podinfo";
  view.state = view.memory.last.state = State::Settled;
  view.since = since;
  view.was_looked_at = true;
  return view;
}

PipelineStatus status_of(const std::vector<TargetView>& views) {
  const PipelineSpec spec = json::decode<PipelineSpec>(yaml_object(kWebSpec), "spec", {.allow_unknown = true}).value();
  ViewInput input{.spec = spec};
  for (const TargetView& view : views) input.targets.push_back(&view);
  return view_of(input).status;
}

TEST(ViewOf, a_target_is_not_in_its_state_for_longer_than_its_version_runs) {
  const PipelineStatus replaced = status_of({target("1.1.0", kNoon, kNoon - hours{5})});
  EXPECT_EQ(replaced.environments.at("dev").targets.front().since, kNoon) << "settled before and after the change of version";
  const PipelineStatus settled = status_of({target("1.1.0", kNoon - hours{5}, kNoon)});
  EXPECT_EQ(settled.environments.at("dev").targets.front().since, kNoon) << "the version came first, then its pods";
}

TEST(ViewOf, a_target_and_its_environment_name_the_chart) {
  const PipelineStatus status = status_of({target("1.1.0", kNoon, kNoon)});
  EXPECT_EQ(status.environments.at("dev").targets.front().chart, "podinfo");
  EXPECT_EQ(status.environments.at("dev").chart, "podinfo");
  EXPECT_EQ(status.environments.at("prod").chart, "");
}

TEST(ViewOf, a_problem_of_a_target_names_its_object) {
  const PipelineSpec spec = json::decode<PipelineSpec>(yaml_object(kWebSpec), "spec", {.allow_unknown = true}).value();
  TargetView view = target("1.1.0", kNoon, kNoon);
  EXPECT_EQ(target_object(spec, view), "HelmRelease web-dev/web");
  view.environment = view.target = 1;
  EXPECT_EQ(target_object(spec, view), "HelmRelease web/web in cluster us");
}

TEST(ViewOf, a_rejection_of_a_version_that_is_gone_is_not_what_is_pending) {
  const PipelineSpec spec = json::decode<PipelineSpec>(yaml_object(kWebSpec), "spec", {.allow_unknown = true}).value();
  const auto pending = [&](const std::string& rejected) {
    std::vector<TargetView> views = {target("1.2.0", kNoon, kNoon), target("1.2.0", kNoon, kNoon),
                                     target("1.2.0", kNoon, kNoon), target("1.0.0", kNoon, kNoon)};
    views[1].environment = views[2].environment = 1;
    views[2].target = 1;
    views[3].environment = 2;
    ViewInput input{.spec = spec};
    for (const TargetView& view : views) input.targets.push_back(&view);
    PromotionView promotion{.name = "p", .version = rejected};
    promotion.spec.environment = "prod";
    promotion.status.phase = Phase::Rejected;
    promotion.status.reason = "GateFailed";
    input.promotions = {promotion};
    return view_of(input).conditions.at(1).reason;
  };
  EXPECT_EQ(pending("1.2.0"), "GateFailed");
  EXPECT_EQ(pending("1.1.0"), "NothingPending");
}

}  // namespace
}  // namespace slipway::delivery::pipeline

// Every crash point and every single fault of the scenarios must end as the clean run does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "sim/scenario.h"

namespace slipway::sim {
namespace {

/// Of every so many points one is tried; 1 in the long form (SLIPWAY_SIM_EVERY=1), which `make test` uses too unless the build
/// is slow. Without it long scenarios are thinned out as they say themselves.
std::uint64_t stride(const Scenario& scenario) {
  const char* every = std::getenv("SLIPWAY_SIM_EVERY");
  if (every == nullptr) return scenario.every;
  const std::uint64_t asked = std::max<std::uint64_t>(1, std::strtoull(every, nullptr, 10));
  return asked == 1 ? 1 : asked * scenario.every;
}

const Image& image() {
  static const Image kImage = Image::bootstrapped();
  return kImage;
}

WorldOptions world_with(FaultPlan faults) {
  WorldOptions options;
  options.image = &image();
  options.faults = std::move(faults);
  return options;
}

class EveryPoint : public testing::TestWithParam<std::size_t> {
 protected:
  const Scenario scenario_ = scenarios()[GetParam()];
  const Ending clean_ = play(scenario_, world_with({}));

  void expect_same_end(FaultPlan plan) {
    const std::string what = plan.to_string();
    const Ending ending = play(scenario_, world_with(std::move(plan)));
    EXPECT_TRUE(ending.is_over) << scenario_.name << " is stuck after " << what << "\n" << ending.state;
    EXPECT_EQ(ending.state, clean_.state) << scenario_.name << " after " << what;
    EXPECT_EQ(ending.broken_promise, "") << scenario_.name << " after " << what;
    EXPECT_EQ(ending.struck.size(), 1U) << scenario_.name << ": the run never came to " << what;
  }
  /// Caches list and watch every kind that is served, some hundred points that differ in the kind alone: at each of these one
  /// of the `kinds` faults strikes, in turn; at all others every one does. `tried` counts the pairs of point and fault so far.
  bool is_spared(std::uint64_t point, std::uint64_t tried, std::uint64_t kinds) const {
    return clean_.recorded[point].who == "slipway-informer" && tried % kinds != point % kinds;
  }
};

TEST_P(EveryPoint, clean_runs_are_alike_and_leave_nothing_over) {
  ASSERT_TRUE(clean_.is_over) << clean_.state;
  EXPECT_EQ(clean_.broken_promise, "");
  EXPECT_EQ(clean_.state.find("LEFT-OVER"), std::string::npos) << clean_.state;
  const Ending again = play(scenario_, world_with({}));
  EXPECT_EQ(again.state, clean_.state);
  EXPECT_EQ(again.points, clean_.points);
  EXPECT_EQ(again.took, clean_.took);
}

std::vector<std::string> workers_of(const Scenario& scenario) {
  if (scenario.name == "rollout") return {"slipway-deployment", "slipway-replicaset"};
  if (scenario.name == "application") return {"slipway-application"};
  if (scenario.name == "gated rollout") return {"slipway-rollout-trait", "slipway-probe"};
  if (scenario.name == "hand-over rollout") return {"slipway-application", "slipway-app-rollout", "slipway-rollout"};
  const bool has_app_rollouts = scenario.name == "standalone rollout" || scenario.name == "hand-over of traffic";
  if (has_app_rollouts) return {"slipway-application", "slipway-app-rollout"};
  if (scenario.name == "revision rollout") return {"slipway-app-rollout", "slipway-rollout"};
  if (scenario.name.ends_with(" rollout")) return {"slipway-rollout-trait"};
  if (scenario.name == "lost right") return {"slipway-application", "slipway-rollout-trait", "slipway-workflow"};
  if (scenario.name == "workflow run") return {"slipway-workflow-run"};
  return {"slipway-workflow", "slipway-job"};
}

TEST(Scenarios, every_controller_has_points) {
  std::map<std::string, std::uint64_t> sums;
  for (const Scenario& scenario : scenarios()) {
    const Ending clean = play(scenario, world_with({}));
    std::string counts;
    for (const auto& [who, points] : clean.points_by_controller) {
      counts += fmt::format(" {}={}", who, points);
      sums[who] += points;
    }
    fmt::print("sim: {}: {} points:{}\n", scenario.name, clean.points, counts);
    for (const std::string& who : workers_of(scenario)) {
      const auto at = clean.points_by_controller.find(who);
      EXPECT_TRUE(at != clean.points_by_controller.end() && at->second > 0) << who << " in " << scenario.name;
    }
  }
  for (const auto* who : {"slipway-workflow", "slipway-job", "slipway-pod", "slipway-deployment", "slipway-replicaset",
                          "slipway-namespace", "slipway-definition", "slipway-claim", "slipway-gc"}) {
    fmt::print("sim: all scenarios: {} has {} points\n", who, sums[who]);
    EXPECT_GT(sums[who], 0U) << who;
  }
}

TEST(Scenarios, files_and_processes_have_points_too) {
  std::map<std::string, std::uint64_t> sums;
  for (const Scenario& scenario : scenarios()) {
    if (scenario.pods != plane::PodRuntimeKind::Process) continue;
    const Ending clean = play(scenario, world_with({}));
    for (const Point& point : clean.recorded) ++sums[point.what.substr(0, point.what.find(' '))];
    EXPECT_NE(clean.state.find("second:Failed:BackoffLimitExceeded:2"), std::string::npos) << clean.state;
  }
  fmt::print("sim: processes: {} points of processes, {} of files\n", sums["PROCESS"], sums["FILE"]);
  EXPECT_GT(sums["PROCESS"], 0U);
  EXPECT_GT(sums["FILE"], 0U);
}

TEST_P(EveryPoint, a_crash_anywhere_ends_as_the_clean_run) {
  std::uint64_t tried = 0;
  std::uint64_t tried_kinds = 0;
  for (std::uint64_t point = 0; point < clean_.points; point += stride(scenario_)) {
    for (const FaultKind kind : {FaultKind::CrashControllers, FaultKind::CrashServer, FaultKind::CrashBoth}) {
      if (is_spared(point, tried_kinds++, 3)) continue;
      expect_same_end({.exact = {{point, kind}}});
      ++tried;
      if (HasFailure()) return;
    }
  }
  fmt::print("sim: {}: {} crashes tried\n", scenario_.name, tried);
  EXPECT_GT(tried, 0U);
}

TEST_P(EveryPoint, any_single_fault_ends_as_the_clean_run) {
  std::uint64_t tried = 0;
  for (std::uint64_t point = 0; point < clean_.points; point += stride(scenario_)) {
    for (const FaultKind kind : {FaultKind::LostAnswer, FaultKind::Unavailable, FaultKind::Conflict, FaultKind::CutWatches,
                                 FaultKind::StaleCache, FaultKind::DiskFails, FaultKind::DiskFull}) {
      if (!applies(kind, clean_.recorded[point].moment, clean_.recorded[point].is_write)) continue;
      FaultPlan plan{.exact = {{point, kind}}};
      const std::string what = plan.to_string();
      const Ending ending = play(scenario_, world_with(std::move(plan)));
      tried += ending.struck.size();
      ASSERT_TRUE(ending.is_over) << scenario_.name << " is stuck after " << what << "\n" << ending.state;
      ASSERT_EQ(ending.state, clean_.state) << scenario_.name << " after " << what;
      ASSERT_EQ(ending.broken_promise, "") << scenario_.name << " after " << what;
    }
  }
  fmt::print("sim: {}: {} single faults struck\n", scenario_.name, tried);
  EXPECT_GT(tried, 0U);
}

TEST_P(EveryPoint, a_step_of_the_wall_clock_ends_as_the_clean_run) {
  std::uint64_t tried = 0;
  std::uint64_t tried_kinds = 0;
  for (std::uint64_t point = 0; point < clean_.points; point += stride(scenario_)) {
    for (const FaultKind kind :
         {FaultKind::WallForwardHour, FaultKind::WallBackHour, FaultKind::WallForwardDay, FaultKind::WallBackDay}) {
      if (is_spared(point, tried_kinds++, 4)) continue;
      if (!applies(kind, clean_.recorded[point].moment, clean_.recorded[point].is_write)) continue;
      expect_same_end({.exact = {{point, kind}}});
      ++tried;
      if (HasFailure()) return;
    }
  }
  fmt::print("sim: {}: {} steps of the wall clock tried\n", scenario_.name, tried);
  EXPECT_GT(tried, 0U);
}

TEST_P(EveryPoint, random_faults_end_as_the_clean_run) {
  const char* wanted = std::getenv("SLIPWAY_SIM_SEEDS");
  const std::uint64_t usual = scenario_.every > 1 ? 30 : 60;
  const std::uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
  std::uint64_t struck = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    WorldOptions options = world_with({.exact = {}, .random_rate = 0.05, .seed = seed});
    options.is_shuffled = true;
    options.seed = seed;
    const Ending ending = play(scenario_, std::move(options));
    struck += ending.struck.size();
    ASSERT_TRUE(ending.is_over) << scenario_.name << " is stuck with seed " << seed << "\n" << ending.state;
    ASSERT_EQ(ending.state, clean_.state) << scenario_.name << " with seed " << seed;
    ASSERT_EQ(ending.broken_promise, "") << scenario_.name << " with seed " << seed;
  }
  fmt::print("sim: {}: {} random faults struck in {} seeds\n", scenario_.name, struck, seeds);
  EXPECT_GT(struck, seeds);
}

INSTANTIATE_TEST_SUITE_P(World, EveryPoint, testing::Range<std::size_t>(0, scenarios().size()),
                         [](const testing::TestParamInfo<std::size_t>& info) {
                           std::string name = scenarios()[info.param].name;
                           std::replace_if(name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace slipway::sim

#include "delivery/wave/explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace slipway::delivery::wave {
namespace {

// A pod becoming ready, a weight being accepted, a pass: each is a step.
constexpr std::uint64_t kMaxStepsToEnd = 60;

struct Total {
  std::uint64_t scenarios = 0, states = 0, transitions = 0, longest = 0, wrong = 0;

  void add(const Scenario& scenario) {
    const Exploration found = explore(scenario);
    ++scenarios;
    states += found.states;
    transitions += found.transitions;
    longest = std::max(longest, found.longest_end);
    wrong += found.violations.size();
    if (!found.violations.empty() && wrong <= 20) ADD_FAILURE() << found.violations.front();
  }
};

void explore_all(const char* name, const std::vector<Scenario>& all) {
  Total total;
  for (const Scenario& scenario : all) total.add(scenario);
  std::cout << "explored " << name << ": " << total.scenarios << " scenarios, " << total.states << " states, "
            << total.transitions << " transitions, at most " << total.longest << " steps to the end, " << total.wrong
            << " violations\n";
  EXPECT_LE(total.longest, kMaxStepsToEnd);
}

/// How many pods and batches there are at most.
struct Size {
  std::int64_t pods_disturbed;
  std::int64_t batches_disturbed;
  std::int64_t pods;
  std::int64_t batches;
};

/// SLIPWAY_EXPLORE: "full" is what `make explore-rollout` runs, "small" what the sanitizers run.
Size size() {
  const char* said = std::getenv("SLIPWAY_EXPLORE");
  const std::string_view name = said == nullptr ? "" : said;
  if (name == "full") return {5, 3, 8, 4};
  return name == "small" ? Size{2, 2, 3, 2} : Size{4, 2, 4, 2};
}

TEST(Explore, every_roll_with_one_disturbance_keeps_its_bounds_and_ends) {
  explore_all("with a disturbance", scenarios(size().pods_disturbed, size().batches_disturbed, true));
}

TEST(Explore, every_roll_without_a_disturbance_keeps_its_bounds_and_ends) {
  explore_all("without one", scenarios(size().pods, size().batches, false));
}

TEST(Explore, finds_every_planted_bug) {
  const Scenario plain{.sources = {2}, .batches = {1, 1}};
  const auto with = [&](auto change) {
    Scenario scenario = plain;
    change(scenario);
    return scenario;
  };
  const auto disturbed = [&](Disturbance disturbance) { return with([&](Scenario& s) { s.disturbance = disturbance; }); };
  const Scenario routed = with([](Scenario& s) { s.has_traffic = true; });
  const Scenario reverted =
      with([](Scenario& s) { s.disturbance = Disturbance::HookRefused, s.on_failure = OnFailure::Revert; });
  const auto shaped = [&](Shape shape, Disturbance disturbance) {
    return with([&](Scenario& s) { s.shape = shape, s.disturbance = disturbance; });
  };
  const Scenario scaled = with([](Scenario& s) { s.shape = Shape::Scale, s.sources = {0}, s.target_size = 2; });
  struct Row {
    Bug bug;
    Scenario scenario;
    std::string_view found_by;
  };
  const Row rows[] = {
      {Bug::OneTooMany, plain, "pods are asked for, which must be in"},
      {Bug::SizeOfOldestKept, with([](Scenario& s) { s.sources = {1, 1}; }), "never ends"},
      {Bug::PodsCountAsReady, plain, "pods are ready, which must be"},
      {Bug::GoalIsSkipped, plain, "updated pods are miscounted"},
      {Bug::BatchFallsBack, plain, "a batch comes again"},
      {Bug::EndIsLeft, plain, "it was begun again"},
      {Bug::RecordIsLost, disturbed(Disturbance::Crash), "fails:"},
      {Bug::StaleWriteWins, disturbed(Disturbance::StaleRead), "what was decided on an old view is written"},
      {Bug::PauseIsUnseen, disturbed(Disturbance::Pause), "a paused rollout acts"},
      {Bug::PartitionIsUnseen, disturbed(Disturbance::Hold), "a held rollout acts"},
      {Bug::NeverReleased, plain, "never ends"},
      {Bug::WeightAtOnce, routed, "traffic for a target without ready pods"},
      {Bug::NoDrain, routed, "pods go before their connections had time to end"},
      {Bug::RevertIsShort, reverted, "a revert leaves"},
      {Bug::RevertIsAtOnce, reverted, "a revert asks for 4 pods, which must be 3 at most"},
      {Bug::TargetIsForgotten, disturbed(Disturbance::Retarget), "a workload was not given back"},
      {Bug::WeightIsDropped, routed, "never ends: waits for traffic"},
      {Bug::OneTooMany, shaped(Shape::Replace, Disturbance::None), "more pods are replaced than the batch has"},
      {Bug::OneTooMany, scaled, "pods are asked for, which must be in"},
      {Bug::NeverReleased, shaped(Shape::Fields, Disturbance::None), "never ends"},
      {Bug::StaleWriteWins, shaped(Shape::Fields, Disturbance::StaleRead), "what was decided on an old view is written"},
      {Bug::PauseIsUnseen, shaped(Shape::Replace, Disturbance::Pause), "a paused rollout acts"},
  };
  for (const Row& row : rows) {
    EXPECT_TRUE(explore(row.scenario).violations.empty()) << row.scenario.text();
    const auto found = explore(row.scenario, row.bug).violations;
    const auto says = [&](const std::string& violation) { return violation.contains(row.found_by); };
    EXPECT_TRUE(std::ranges::any_of(found, says)) << row.found_by << "; found: " << (found.empty() ? "nothing" : found.front());
  }
}

}  // namespace
}  // namespace slipway::delivery::wave

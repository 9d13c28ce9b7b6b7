// Rollouts in the simulator: a crash or another fault at any point of their controller ends as the clean run does, and at no
// moment more or fewer pods are asked for than the strategy allows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../world/strike.h"
#include "delivery/rollout/kind.h"
#include "kube/well_known.h"
#include "plane/store_view.h"

namespace slipway::sim {
namespace {

using delivery::rollout::kTraits;
using json::Value;
using kube::kDeployments;
using namespace std::chrono_literals;

std::string version(std::string_view name, std::int64_t replicas, std::string_view ready_after) {
  return fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{version: {0}}}}}
  template:
    metadata:
      labels: {{version: {0}}}
      annotations: {{slipway.dev/ready-after: {2}}}
    spec: {{containers: [{{name: main, image: '{0}'}}]}}
---)",
                     name, replicas, ready_after);
}

std::string trait(std::string_view target, std::string_view source, std::string_view plan) {
  return fmt::format(R"(
apiVersion: standard.oam.dev/v1alpha1
kind: RolloutTrait
metadata: {{name: r}}
spec:
  targetRef: {{apiVersion: apps/v1, kind: Deployment, name: {}}}
  sourceRef: [{{apiVersion: apps/v1, kind: Deployment, name: {}}}]
  rolloutPlan: {}
)",
                     target, source, plan);
}

Task<Value> look(World& world, kube::Resource resource, std::string name) {
  auto found = co_await client::get(world.user(), resource, {"default", name});
  co_return found ? *found : Value();
}

Task<> wait_for_state(World& world, std::string state) {
  co_await wait_until(world, kTraits, "r",
                      [state](const Value& r) { return r["status"]["rollingState"].as_string() == state; });
}

Task<> tell_sizes(World& world) {
  for (const char* name : {"v1", "v2", "v3"}) {
    const Value seen = co_await look(world, kDeployments, name);
    if (seen.is_null()) continue;
    world.tell(fmt::format("{} has {} pods, owner {}", name, seen["spec"]["replicas"].as_int(),
                           kube::controller_of(seen)["name"].as_string()));
  }
}

Task<> start(World& world, std::string second, std::string plan) {
  co_await apply_text(world, version("v1", 4, "1s") + second);
  co_await wait_until(world, kDeployments, "v1", [](const Value& v) { return v["status"]["readyReplicas"].as_int() == 4; });
  co_await apply_text(world, trait("v2", "v1", plan));
}

Task<> release(World& world) {
  co_await start(world, version("v2", 0, "2s"), "{numBatches: 2}");
  co_await wait_for_state(world, "rolloutSucceed");
  co_await tell_sizes(world);
}

Task<> revert(World& world) {
  co_await start(world, version("v2", 0, "never"), "{numBatches: 2, batchDeadlineSeconds: 20, onFailure: Revert}");
  co_await wait_for_state(world, "rolloutFailed");
  co_await tell_sizes(world);
}

Task<> retarget(World& world) {
  co_await start(world, version("v2", 0, "2s") + version("v3", 0, "2s"), "{numBatches: 2, batchPartition: 0}");
  co_await wait_until(world, kTraits, "r",
                      [](const Value& r) { return r["status"]["batchRollingState"].as_string() == "batchReady"; });
  co_await apply_text(world, trait("v3", "v2", "{numBatches: 2}"));
  co_await wait_until(world, kTraits, "r", [](const Value& r) {
    return r["status"]["attempt"].as_int() == 2 && r["status"]["rollingState"].as_string() == "rolloutSucceed";
  });
  co_await tell_sizes(world);
}

Task<> removal(World& world) {
  co_await start(world, version("v2", 0, "2s"), "{numBatches: 2, batchPartition: 0, revertOnDelete: true}");
  co_await wait_until(world, kTraits, "r",
                      [](const Value& r) { return r["status"]["batchRollingState"].as_string() == "batchReady"; });
  co_await remove(world, kTraits, {"default", "r"}, "Background");
  co_await wait_until_gone(world, kTraits, {"default", "r"});
  co_await tell_sizes(world);
}

/// Four pods, at most two more: what IncreaseFirst allows.
std::string sizes_promise(World& world) {
  if (world.store() == nullptr) return "";
  const plane::StoreView view(*world.server(), *world.store(), Time{});
  std::int64_t sum = 0;
  for (const Value& one : view.all({"apps", "v1", "Deployment"}, "default")) sum += one["spec"]["replicas"].as_int();
  return sum == 0 || (sum >= 4 && sum <= 6) ? "" : fmt::format("{} pods are asked for", sum);
}

std::vector<Scenario> rollouts() {
  return {{.name = "release", .script = release, .promise = sizes_promise},
          {.name = "revert", .script = revert, .promise = sizes_promise},
          {.name = "retarget", .script = retarget, .promise = sizes_promise},
          {.name = "removal", .script = removal, .promise = sizes_promise}};
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

class RolloutFaults : public testing::TestWithParam<std::size_t> {
 protected:
  const Scenario scenario_ = rollouts()[GetParam()];
  const Ending clean_ = play(scenario_, world_with({}));

  void strike_with(const std::vector<FaultKind>& kinds) {
    ASSERT_TRUE(clean_.is_over) << clean_.state;
    ASSERT_EQ(clean_.broken_promise, "");
    const auto play_with = [this](FaultPlan faults) {
      const Ending ending = play(scenario_, world_with(std::move(faults)));
      return Played{.ending = ending, .state = ending.state};
    };
    const auto is_ours = [](const Point& point) { return point.who == "slipway-rollout-trait"; };
    strike({.name = "rollout " + scenario_.name, .play = play_with, .is_ours = is_ours, .every = 3},
           {.ending = clean_, .state = clean_.state}, kinds);
  }
};

TEST_P(RolloutFaults, a_crash_anywhere_ends_as_the_clean_run) {
  strike_with({FaultKind::CrashControllers, FaultKind::CrashServer, FaultKind::CrashBoth});
}

TEST_P(RolloutFaults, any_single_fault_ends_as_the_clean_run) {
  strike_with(
      {FaultKind::LostAnswer, FaultKind::Unavailable, FaultKind::Conflict, FaultKind::CutWatches, FaultKind::StaleCache});
}

TEST_P(RolloutFaults, a_step_of_the_wall_clock_ends_as_the_clean_run) {
  strike_with({FaultKind::WallForwardHour, FaultKind::WallBackHour});
}

INSTANTIATE_TEST_SUITE_P(Simulated, RolloutFaults, testing::Range<std::size_t>(0, rollouts().size()),
                         [](const testing::TestParamInfo<std::size_t>& info) { return rollouts()[info.param].name; });

}  // namespace
}  // namespace slipway::sim

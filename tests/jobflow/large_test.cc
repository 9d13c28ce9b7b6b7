// Graphs far above the size where step statuses leave the workflow: they end, and no object grows too big.
#include <gtest/gtest.h>

#include "plane_fixture.h"

namespace slipway::jobflow_test {
namespace {

using Large = PlaneTest;

/// Layers of `width` steps; each step depends on two of the layer before.
std::string layers(int count, int width, std::string_view annotations = "") {
  std::string spec = fmt::format("{{templates: {{t: {}}}, steps: {{", job(annotations));
  for (int i = 0; i < count; ++i) {
    const int layer = i / width;
    spec += fmt::format("s{:05}: {{template: {{name: t}}", i);
    if (layer > 0) {
      const int below = (layer - 1) * width;
      spec += fmt::format(", dependencies: [s{:05}, s{:05}]", below + i % width, below + (i + 1) % width);
    }
    spec += "}, ";
  }
  spec.resize(spec.size() - 2);
  return spec + "}}";
}

std::size_t largest(const std::vector<Value>& objects) {
  std::size_t most = 0;
  for (const Value& one : objects) most = std::max(most, json::print(one).size());
  return most;
}

TEST_F(Large, graphs_end_and_keep_every_object_small) {
  const char* wanted = std::getenv("SLIPWAY_LARGE_STEPS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 1'200;
  make("big", layers(count, 100));
  const Value end = end_of("big");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(end["status"]["counts"]["succeeded"].as_int(), count);
  EXPECT_FALSE(end["status"].has("statuses"));
  const auto sets = list(kStepSets);
  EXPECT_EQ(static_cast<std::int64_t>(sets.size()), end["status"]["stepSets"].as_int());
  std::size_t records = 0;
  for (const Value& set : sets) records += set["spec"]["statuses"].size();
  EXPECT_EQ(records, static_cast<std::size_t>(count));
  fmt::print("{} steps: workflow {} bytes, largest step set {} bytes, {} revisions\n", count, json::print(end).size(),
             largest(sets), api_->store().revision());
  EXPECT_LT(std::max(json::print(end).size(), largest(sets)), std::size_t{3} << 19);
}

TEST_F(Large, graphs_go_on_after_a_restart) {
  make("big", layers(1'100, 100, "slipway.dev/run-time: 1s"));
  advance(std::chrono::milliseconds{5'600});
  const auto progress = workflow("big")["status"]["counts"]["succeeded"].as_int();
  EXPECT_GT(progress, 0);
  EXPECT_LT(progress, 1'100);
  restart();
  EXPECT_TRUE(kube::is_true(end_of("big"), "Complete"));
  EXPECT_EQ(attempts().size(), 1'100u);
}

}  // namespace
}  // namespace slipway::jobflow_test

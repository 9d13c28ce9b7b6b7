// Each way of delivery after each: two revisions by the one, then the other, which is let finish, is overtaken by a newer
// revision, by the first way again, is rejected, or loses its rollout. Until the application is deleted the Service stays the
// same, enough pods are ready and no more are there than a hand-over needs; then nothing is left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/object.h"
#include "stage.h"

namespace slipway::handover_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class Cell : public testing::TestWithParam<std::tuple<Way, Way>> {
 protected:
  void SetUp() override {
    stage_.watch(bounds());
    stage_.deliver({.way = from(), .number = 1});
    stage_.deliver({.way = from(), .number = 2});
  }
  void TearDown() override { EXPECT_EQ(stage_.fault(), "") << stage_.story(); }

  static Way from() { return std::get<0>(GetParam()); }
  static Way to() { return std::get<1>(GetParam()); }
  /// A Deployment's own rolling update may take one pod of four away, and adds one when it is rolled again before it serves;
  /// next to it stand as many as serve.
  static Stage::Bounds bounds() {
    const bool is_normal = from() == Way::Normal || to() == Way::Normal;
    return {.whole = 4, .unavailable = is_normal ? 1 : 0, .surge = is_normal ? 5 : 2};
  }
  /// The new way is under way: some of its pods are ready, and not all.
  void begin(const Version& version) {
    stage_.apply(version);
    stage_.pass(seconds{7});
  }
  void expect_nothing_left() {
    EXPECT_EQ(stage_.fault(), "") << stage_.story();
    EXPECT_EQ(stage_.left_after_deletion(), "");
  }

  Stage stage_;
};

TEST_P(Cell, finishes) {
  stage_.deliver({.way = to(), .number = 3});
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

TEST_P(Cell, goes_on_to_a_newer_revision) {
  begin({.way = to(), .number = 3});
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

TEST_P(Cell, goes_back_to_the_first_way) {
  begin({.way = to(), .number = 3});
  stage_.deliver({.way = from(), .number = 4});
  expect_nothing_left();
}

TEST_P(Cell, mends_what_was_rejected) {
  begin({.way = to(), .number = 3, .is_bad = true});
  stage_.pass(minutes{1});
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

TEST_P(Cell, is_deleted_in_the_midst) {
  begin({.way = to(), .number = 3});
  expect_nothing_left();
}

TEST_P(Cell, keeps_its_pods_without_its_rollout) {
  if (to() == Way::Normal) GTEST_SKIP() << "skipped: there is no rollout";
  stage_.deliver({.way = to(), .number = 3});
  stage_.delete_rollout(to());
  EXPECT_TRUE(stage_.finish(to()));
  EXPECT_EQ(stage_.images(), "web:3 4") << stage_.story();
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

std::string cell_name(const testing::TestParamInfo<std::tuple<Way, Way>>& cell) {
  return fmt::format("{}To{}", name_of(std::get<0>(cell.param)), name_of(std::get<1>(cell.param)));
}

INSTANTIATE_TEST_SUITE_P(Ways, Cell, testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(kWays)), cell_name);

}  // namespace
}  // namespace slipway::handover_test

// Each way of delivery after each: two revisions by the one, then the other, which is let finish, is overtaken by a newer
// revision, by the first way again, is rejected, or loses its rollout. Until the application is deleted the Service stays the
// same, enough of its endpoints are ready and no more pods are there than a hand-over needs; then nothing is left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/object.h"
#include "stage.h"

namespace slipway::handover_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t kWhole = 4;  // T
constexpr std::int64_t kBatch = 2;  // b

/// A user writes the plan.
bool has_own_plan(Way way) { return way == Way::Plan || way == Way::Standalone; }

bool may_move_traffic(Way way) { return has_own_plan(way) || way == Way::BlueGreen; }

class Cell : public testing::TestWithParam<std::tuple<Way, Way>> {
 protected:
  void SetUp() override {
    bound_for(from());
    stage_.deliver({.way = from(), .number = 1});
    if (from() != Way::Template) stage_.deliver({.way = from(), .number = 2});
    bound_for(to());
  }
  void TearDown() override { EXPECT_EQ(stage_.fault(), "") << stage_.story(); }

  static Way from() { return std::get<0>(GetParam()); }
  static Way to() { return std::get<1>(GetParam()); }
  /// The number of the last version by the first way: only the first revision of an application can be by a template.
  static int first_number() { return from() == Way::Template ? 1 : 2; }

  /// The bounds of a hand-over to that way. A Deployment's own rolling update takes away one pod of four and adds one, also
  /// when its rollout has to wait for its end.
  void bound_for(Way next, std::int64_t unavailable = 0) {
    const bool is_normal = from() == Way::Normal || next == Way::Normal;
    stage_.watch({.whole = kWhole,
                  .unavailable = std::max<std::int64_t>(unavailable, is_normal ? 1 : 0),
                  .surge = next == Way::Normal ? kWhole : kBatch});
  }
  /// The new way is under way: some of its pods are ready, and not all.
  void begin(const Version& version) {
    stage_.apply(version);
    stage_.pass(seconds{version.way == Way::Normal ? 2 : 7});  // a rolling update is over sooner
    if (version.is_bad) return;
    const std::string image = fmt::format("web:{} ", version.number);
    ASSERT_TRUE(stage_.until([&] { return stage_.images().contains(image); }, minutes{1})) << stage_.story();
    const bool has_old = stage_.images() != fmt::format("{}{}", image, kWhole);
    EXPECT_TRUE(has_old) << "it is at its end already: " << stage_.story();
  }
  void expect_first_version() {
    EXPECT_EQ(stage_.images(), fmt::format("web:{} {}", first_number(), kWhole)) << stage_.story();
  }
  void expect_nothing_left() {
    EXPECT_EQ(stage_.fault(), "") << stage_.story();
    EXPECT_EQ(stage_.left_after_deletion(), "");
  }
  void reject(OnFailure on_failure);

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
  if (from() == Way::Template) {
    EXPECT_TRUE(stage_.apply_as_template({.way = from(), .number = 4}).contains("once removed it cannot come back"));
    EXPECT_TRUE(stage_.finish(to()));
    EXPECT_EQ(stage_.images(), "web:3 4") << stage_.story();
  } else {
    // Normal delivery has made all its pods beside those of the rollout: 2T are there when the next way takes over.
    if (to() != Way::Normal) bound_for(from());
    stage_.deliver({.way = from(), .number = 4});
  }
  expect_nothing_left();
}

TEST_P(Cell, mends_what_was_never_ready) {
  begin({.way = to(), .number = 3, .is_bad = true});
  stage_.pass(minutes{1});
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

void Cell::reject(OnFailure on_failure) {
  begin({.way = to(), .number = 3, .is_asked = true, .on_failure = on_failure});
  ASSERT_TRUE(stage_.reject(to(), on_failure)) << stage_.story();
  EXPECT_TRUE(stage_.finish(to(), Stage::People::Wait));
  EXPECT_EQ(stage_.rollout(to())["status"]["rollingState"].as_string(), "rolloutFailed") << stage_.story();
}

TEST_P(Cell, stops_when_it_is_rejected) {
  if (to() == Way::Normal) GTEST_SKIP() << "skipped: nothing asks";
  reject(OnFailure::Stop);
  EXPECT_TRUE(stage_.images().contains("web:3")) << stage_.story();
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

TEST_P(Cell, reverts_when_it_is_rejected) {
  if (to() == Way::Normal) GTEST_SKIP() << "skipped: nothing asks";
  reject(OnFailure::Revert);
  expect_first_version();
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

TEST_P(Cell, is_deleted_in_the_midst) {
  begin({.way = to(), .number = 3});
  expect_nothing_left();
}

/// Also what the rollout of a user's has made and written on, which stays itself.
TEST_P(Cell, is_deleted_while_traffic_moves) {
  if (!may_move_traffic(to())) GTEST_SKIP() << "skipped: no traffic is moved";
  stage_.make_ingress();
  begin({.way = to(), .number = 3, .has_traffic = true});
  ASSERT_TRUE(stage_.until([&] { return !stage_.traffic_left().empty(); }, minutes{1})) << stage_.story();
  expect_nothing_left();
  EXPECT_EQ(stage_.traffic_left(), "");
  if (to() != Way::Standalone) return;
  const Value status = stage_.rollout(to())["status"];
  EXPECT_EQ(status["rollingState"].as_string(), "rolloutFailed");
  EXPECT_EQ(status["failure"].as_string(), fmt::format("Deployment/web-v{} and its revision are gone", first_number() + 1));
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

/// A rollout that is the application's is made again, and goes on.
TEST_P(Cell, is_taken_back_with_its_rollout) {
  if (to() == Way::Normal) GTEST_SKIP() << "skipped: there is no rollout";
  begin({.way = to(), .number = 3});
  stage_.delete_rollout(to(), OnFailure::Revert);
  EXPECT_TRUE(stage_.finish(to()));
  if (to() == Way::Standalone) {
    expect_first_version();
  } else {
    EXPECT_EQ(stage_.images(), "web:3 4") << stage_.story();
  }
  stage_.deliver({.way = to(), .number = 4});
  expect_nothing_left();
}

TEST_P(Cell, takes_old_pods_away_first) {
  if (!has_own_plan(to())) GTEST_SKIP() << "skipped: the order is not the user's";
  bound_for(to(), kBatch);
  stage_.deliver({.way = to(), .number = 3, .decreases_first = true});
  stage_.deliver({.way = to(), .number = 4, .decreases_first = true});
  expect_nothing_left();
}

TEST_P(Cell, moves_traffic_along) {
  if (!may_move_traffic(to())) GTEST_SKIP() << "skipped: no traffic is moved";
  stage_.make_ingress();
  stage_.deliver({.way = to(), .number = 3, .has_traffic = true});
  stage_.deliver({.way = to(), .number = 4, .has_traffic = true});
  EXPECT_EQ(stage_.traffic_left(), "");
  begin({.way = to(), .number = 5, .has_traffic = true});
  const Way last = from() == Way::Template ? to() : from();
  bound_for(last);
  stage_.deliver({.way = last, .number = 6, .has_traffic = may_move_traffic(last)});
  EXPECT_EQ(stage_.traffic_left(), "");
  expect_nothing_left();
}

TEST_P(Cell, takes_back_the_traffic_that_the_next_revision_does_not_move) {
  if (!may_move_traffic(to())) GTEST_SKIP() << "skipped: no traffic is moved";
  stage_.make_ingress();
  begin({.way = to(), .number = 3, .has_traffic = true});
  ASSERT_TRUE(stage_.until([&] { return !stage_.traffic_left().empty(); }, minutes{1})) << stage_.story();
  stage_.deliver({.way = to(), .number = 4});
  EXPECT_FALSE(stage_.rollout(to())["spec"]["rolloutPlan"].has("traffic"));
  EXPECT_EQ(stage_.traffic_left(), "");
  expect_nothing_left();
}

std::string cell_name(const testing::TestParamInfo<std::tuple<Way, Way>>& cell) {
  return fmt::format("{}To{}", name_of(std::get<0>(cell.param)), name_of(std::get<1>(cell.param)));
}

INSTANTIATE_TEST_SUITE_P(Ways, Cell, testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(kNextWays)), cell_name);

/// The column of the template: only a create may make one.
class ToTemplate : public testing::TestWithParam<Way> {};

TEST_P(ToTemplate, is_refused_and_moves_nothing) {
  Stage stage;
  stage.watch({.whole = kWhole, .unavailable = 1, .surge = kBatch});
  stage.deliver({.way = GetParam(), .number = 1});
  const std::int64_t generation = kube::generation(stage.application());
  EXPECT_TRUE(stage.apply_as_template({.way = GetParam(), .number = 2}).contains("once removed it cannot come back"));
  EXPECT_EQ(kube::generation(stage.application()), generation);
  stage.pass(minutes{1});
  EXPECT_EQ(stage.images(), "web:1 4") << stage.story();
  EXPECT_EQ(stage.phase(), "running");
  EXPECT_EQ(stage.fault(), "") << stage.story();
  EXPECT_EQ(stage.left_after_deletion(), "");
}

INSTANTIATE_TEST_SUITE_P(Ways, ToTemplate, testing::ValuesIn(kWays),
                         [](const testing::TestParamInfo<Way>& way) { return std::string(name_of(way.param)); });

}  // namespace
}  // namespace slipway::handover_test

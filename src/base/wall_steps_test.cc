#include "base/wall_steps.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

class WallStepsTest : public ::testing::Test {
 protected:
  /// How old the steps make `written`.
  Duration age(Time written) {
    const Now now = steps_.now();
    return now.time() - now.present(written);
  }

  ManualEnv env_;
  WallSteps steps_{env_.clock()};
};

TEST_F(WallStepsTest, without_a_step_times_are_as_written) {
  const Time written = env_.now();
  env_.advance(90s);
  EXPECT_EQ(age(written), 90s);
  EXPECT_EQ(age(written - 24h), 24h + 90s);
  EXPECT_EQ(age(written + 24h), 90s - 24h);
}

TEST_F(WallStepsTest, an_age_stays_the_same_over_a_step) {
  for (const Duration step : {Duration{1h}, Duration{-1h}, Duration{24h}, Duration{-24h}}) {
    const Time written = env_.now();
    env_.advance(10s);
    EXPECT_EQ(age(written), 10s);
    env_.advance(5s);
    env_.clock().step_wall(step);
    EXPECT_EQ(age(written), 15s);
    env_.advance(30min);
    EXPECT_EQ(age(written), 15s + 30min);
    env_.advance(24h * 2);
    EXPECT_EQ(age(env_.now() - 3s), 3s);
  }
}

TEST_F(WallStepsTest, an_age_stays_the_same_over_several_steps) {
  const Time written = env_.now();
  for (const Duration step : {Duration{1h}, Duration{24h}, Duration{-10min}}) {
    env_.advance(1min);
    (void)steps_.now();
    env_.clock().step_wall(step);
  }
  env_.advance(1min);
  EXPECT_EQ(age(written), 4min);
}

TEST_F(WallStepsTest, a_time_written_between_the_step_and_its_being_noticed_belongs_to_the_new_clock) {
  for (const Duration step : {Duration{1h}, Duration{-1h}}) {
    env_.advance(2h);
    (void)steps_.now();
    env_.advance(1s);
    env_.clock().step_wall(step);
    const Time written = std::chrono::floor<std::chrono::seconds>(env_.now());
    env_.advance(7s);
    EXPECT_EQ(age(written), 7s);
  }
}

TEST_F(WallStepsTest, what_is_older_than_the_process_was_written_under_the_first_clock) {
  const Time written = env_.now() - 1h;
  env_.advance(10s);
  (void)steps_.now();
  env_.clock().step_wall(24h);
  EXPECT_EQ(age(written), 1h + 10s);
}

TEST_F(WallStepsTest, a_slewed_clock_makes_no_history) {
  const Time written = env_.now();
  for (int i = 0; i < 100; ++i) {
    env_.advance(10s);
    env_.clock().step_wall(5ms);
    (void)steps_.now();
  }
  EXPECT_EQ(age(written), 1000s + 500ms);
}

TEST_F(WallStepsTest, a_clock_set_back_makes_nothing_early_once_it_has_caught_up) {
  const Time written = env_.now();
  env_.advance(10s);
  (void)steps_.now();
  env_.clock().step_wall(-1h);
  env_.advance(2h);
  EXPECT_LE(age(written), 2h + 10s);
  EXPECT_GE(age(written), 1h);
}

}  // namespace
}  // namespace slipway

#include "delivery/pipeline/list_turns.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/manual_env.h"

namespace slipway::delivery::pipeline {
namespace {

class ListTurnsTest : public testing::Test {
 protected:
  Task<> ask(int number) {
    auto held = co_await turns_->next();
    begun_.push_back(number);
    held_.push_back(std::move(held));
  }
  void ask_for(int first, int end) {
    for (int i = first; i < end; ++i) tasks_.spawn(ask(i));
    env_.run_until_idle();
  }

  ManualEnv env_;
  std::shared_ptr<ListTurns> turns_ = std::make_shared<ListTurns>(env_.env());
  std::vector<int> begun_;
  std::vector<std::unique_ptr<ListTurns::Held>> held_;
  Tasks tasks_{env_.env()};
};

constexpr int kAll = static_cast<int>(ListTurns::kAtOnce);

TEST_F(ListTurnsTest, the_next_comes_when_one_ends_in_the_order_of_asking) {
  ask_for(0, kAll + 3);
  EXPECT_EQ(begun_.size(), ListTurns::kAtOnce);
  held_[5].reset();
  env_.run_until_idle();
  held_[9].reset();
  env_.run_until_idle();
  ASSERT_EQ(begun_.size(), ListTurns::kAtOnce + 2);
  EXPECT_EQ(begun_[ListTurns::kAtOnce], kAll);
  EXPECT_EQ(begun_.back(), kAll + 1);
}

TEST_F(ListTurnsTest, those_that_are_not_answered_hold_nobody_up_for_long) {
  ask_for(0, kAll + 3);
  env_.advance(ListTurns::kPatience);
  EXPECT_EQ(begun_.size(), ListTurns::kAtOnce + 3);
  held_.clear();
  ask_for(0, kAll);
  EXPECT_EQ(begun_.size(), 2 * ListTurns::kAtOnce + 3);
}

}  // namespace
}  // namespace slipway::delivery::pipeline

#include "delivery/rollout/behind.h"

#include <gtest/gtest.h>

namespace slipway::delivery::rollout {
namespace {

using std::chrono::seconds;

Steady at(int second) { return Steady{} + seconds{second}; }

TEST(Behind, is_due_after_the_pause_of_what_it_is_behind_in) {
  Behind behind;
  EXPECT_FALSE(behind.due());
  behind.note(at(0), kAskingPause);
  behind.note(at(100), kAskingPause);
  EXPECT_EQ(behind.due(), at(300));
  behind.note(at(200), kCountPause);
  EXPECT_EQ(behind.due(), at(245)) << "what is told sooner begins now";
  behind.note(at(210), kHoldPause);
  EXPECT_EQ(behind.due(), at(215));
  behind.reset();
  EXPECT_FALSE(behind);
  behind.note(at(300), kHoldPause);
  EXPECT_EQ(behind.due(), at(305));
}

TEST(Behind, a_hold_that_comes_and_goes_does_not_put_it_off) {
  Behind behind;
  behind.note(at(0), kCountPause);
  int second = 0;
  while (*behind.due() > at(second) && second < 600) {
    second += 3;
    behind.note(at(second), second % 2 != 0 ? kHoldPause : kCountPause);
  }
  EXPECT_EQ(second, 45);
  behind.reset();
  behind.note(at(600), kHoldPause);
  behind.note(at(604), kCountPause);
  behind.note(at(644), kHoldPause);
  EXPECT_EQ(behind.due(), at(645));
}

}  // namespace
}  // namespace slipway::delivery::rollout

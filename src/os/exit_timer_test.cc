#include "os/exit_timer.h"

#include <gtest/gtest.h>

namespace slipway::os {
namespace {

using namespace std::chrono_literals;

/// A thread that nothing wakes, as one in a call of the resolver.
void hang() {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait(lock, [] { return false; });
}

TEST(ExitTimer, ends_a_process_that_hangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ExitTimer timer;
        timer.arm(50ms, 7, "not ended in time\n");
        timer.arm(1h, 8, "a later call changes nothing\n");
        hang();
      },
      testing::ExitedWithCode(7), "^not ended in time\n$");
}

TEST(ExitTimer, does_nothing_once_it_is_gone) {
  {
    ExitTimer timer;
    timer.arm(20ms, 7, "");
  }
  ExitTimer later;
  later.arm(1h, 7, "");
}

}  // namespace
}  // namespace slipway::os

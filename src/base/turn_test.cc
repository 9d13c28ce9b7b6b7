#include "base/turn.h"

#include <gtest/gtest.h>

#include <string>

#include "base/manual_env.h"

namespace slipway {
namespace {

TEST(Turn, ends_when_its_units_are_spent) {
  ManualEnv env;
  Turn turn(env, 10);
  EXPECT_FALSE(turn.spend(4));
  EXPECT_FALSE(turn.spend(5));
  EXPECT_TRUE(turn.spend(1));
  EXPECT_TRUE(turn.spend(0)) << "it stays over";
  turn.begin();
  EXPECT_FALSE(turn.spend(9));
  EXPECT_TRUE(turn.spend(100));
}

TEST(Turn, ends_after_its_time) {
  ManualEnv env;
  Turn turn(env, 1000);
  EXPECT_FALSE(turn.spend(1));
  env.advance(Turn::kLongest);
  EXPECT_TRUE(turn.spend(1));
  turn.begin();
  EXPECT_FALSE(turn.spend(1));
}

Task<> work(Env& env, std::string& order, char name, int pieces) {
  Turn turn(env, 2);
  for (int i = 0; i < pieces; ++i) {
    order += name;
    if (turn.spend(1)) co_await turn.pass();
  }
}

TEST(Turn, lets_others_run_between_two_of_its_own) {
  ManualEnv env;
  std::string order;
  env.spawn(work(env, order, 'a', 5));
  env.spawn(work(env, order, 'b', 5));
  env.run_until_idle();
  EXPECT_EQ(order, "aabbaabbab");
}

}  // namespace
}  // namespace slipway

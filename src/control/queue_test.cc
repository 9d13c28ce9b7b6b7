#include "control/queue.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class QueueTest : public testing::Test {
 protected:
  ~QueueTest() override { env_.drop_all(); }
  std::string take() { return env_.run(queue_.take()).name; }
  static ObjectKey key(const std::string& name) { return {"default", name}; }

  ManualEnv env_;
  Queue queue_{env_};
};

TEST_F(QueueTest, gives_each_key_once_in_order) {
  for (const char* name : {"b", "a", "b", "c", "a"}) queue_.add(key(name));
  EXPECT_EQ(queue_.size(), 3U);
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(take(), "c");
}

TEST_F(QueueTest, lets_tenants_take_turns) {
  for (const char* name : {"a1", "a2", "a3"}) queue_.add({"team-a", name});
  queue_.add({"team-b", "b1"});
  queue_.add({"", "c1"});
  queue_.add({"team-b", "b2"});
  for (const char* name : {"a1", "b1", "c1", "a2", "b2", "a3"}) EXPECT_EQ(take(), name);
}

TEST_F(QueueTest, passes_over_tenants_that_may_not_run) {
  queue_.add({"team-a", "a1"});
  queue_.add({"team-b", "b1"});
  const auto not_a = [](const std::string& tenant) { return tenant != "team-a"; };
  EXPECT_EQ(queue_.take_if(not_a)->name, "b1");
  EXPECT_FALSE(queue_.take_if(not_a));
  EXPECT_EQ(queue_.size(), 1U);
}

TEST_F(QueueTest, never_gives_a_key_that_is_being_worked_on) {
  queue_.add(key("a"));
  EXPECT_EQ(take(), "a");
  queue_.add(key("a"));
  queue_.add(key("a"));
  queue_.add(key("b"));
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(queue_.size(), 0U);
  queue_.done(key("a"));
  EXPECT_EQ(take(), "a");
  queue_.done(key("a"));
  queue_.done(key("b"));
  EXPECT_TRUE(queue_.is_idle());
}

TEST_F(QueueTest, lets_the_earlier_of_two_delays_win) {
  const Time began = env_.now();
  queue_.add_after(key("a"), seconds{10});
  queue_.add_after(key("a"), seconds{3});
  queue_.add_after(key("a"), seconds{5});
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(env_.now() - began, seconds{3});
  queue_.done(key("a"));
  env_.advance(seconds{60});
  EXPECT_TRUE(queue_.is_idle()) << "superseded delays are gone";
}

TEST_F(QueueTest, backs_off_exponentially_with_a_cap_and_some_jitter) {
  Duration expected = milliseconds{5};
  for (int i = 0; i < 25; ++i) {
    const Time began = env_.now();
    queue_.add_backed_off(key("a"));
    take();
    queue_.done(key("a"));
    const Duration waited = env_.now() - began;
    EXPECT_GE(waited, expected);
    EXPECT_LE(waited, expected * 11 / 10);
    expected = std::min<Duration>(expected * 2, seconds{300});
  }
  queue_.forget(key("a"));
  const Time began = env_.now();
  queue_.add_backed_off(key("a"));
  take();
  EXPECT_LT(env_.now() - began, milliseconds{6});
}

TEST_F(QueueTest, wakes_a_waiting_taker) {
  std::string taken;
  env_.spawn([](Queue& queue, std::string& into) -> Task<> { into = (co_await queue.take()).name; }(queue_, taken));
  env_.run_until_idle();
  EXPECT_EQ(taken, "");
  queue_.add(key("a"));
  env_.run_until_idle();
  EXPECT_EQ(taken, "a");
}

}  // namespace
}  // namespace slipway::control

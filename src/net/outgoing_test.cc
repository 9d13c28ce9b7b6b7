#include "net/outgoing.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway::net {
namespace {

using std::chrono::seconds;
using Turns = std::vector<std::unique_ptr<Outgoing::Turn>>;

class OutgoingTest : public testing::Test {
 protected:
  void TearDown() override { env_.drop_all(); }

  Result<std::unique_ptr<Outgoing::Turn>> take(const std::string& tenant, const std::string& host,
                                               Duration timeout = seconds{1}) {
    return env_.run(outgoing_.take(tenant, host, env_.env().clock.steady() + timeout));
  }
  Turns take_all(const std::string& tenant, const std::string& host, std::size_t count) {
    Turns turns;
    for (std::size_t i = 0; i < count; ++i) {
      auto turn = take(tenant, host);
      EXPECT_TRUE(turn) << turn.error().message;
      if (turn) turns.push_back(*std::move(turn));
    }
    return turns;
  }
  /// A call that ends without an answer after `took`.
  void hang(const std::string& tenant, const std::string& host, Duration took, Duration timeout = seconds{60}) {
    auto turn = take(tenant, host, timeout);
    ASSERT_TRUE(turn) << turn.error().message;
    env_.advance(took);
    Status late;
    late.reason = Reason::Timeout;
    (*turn)->ended(&late);
  }
  std::string refusal(const std::string& tenant, const std::string& host) {
    const auto turn = take(tenant, host);
    return turn ? "" : turn.error().message;
  }

  ManualEnv env_;
  Outgoing outgoing_{env_.env()};
};

TEST_F(OutgoingTest, a_host_and_a_tenant_have_limits_and_others_are_not_kept_waiting) {
  Turns host = take_all("a", "slow.test:443", Outgoing::kMaxOfHost);
  EXPECT_EQ(refusal("a", "slow.test:443"),
            "slow.test:443: no turn within the time-out: 8 calls of this namespace are under way to this host");
  EXPECT_EQ(refusal("b", "slow.test:443"), "");
  Turns others;
  for (std::size_t i = 1; i < Outgoing::kMaxOfTenant / Outgoing::kMaxOfHost; ++i) {
    for (auto& turn : take_all("a", std::to_string(i), Outgoing::kMaxOfHost)) others.push_back(std::move(turn));
  }
  EXPECT_EQ(refusal("a", "fast.test:443"),
            "fast.test:443: no turn within the time-out: 32 calls of this namespace are under way");
  EXPECT_EQ(refusal("b", "fast.test:443"), "");
  host.pop_back();
  EXPECT_EQ(refusal("a", "slow.test:443"), "");
}

TEST_F(OutgoingTest, who_waits_goes_on_when_a_call_ends) {
  Turns host = take_all("a", "h:80", Outgoing::kMaxOfHost);
  bool has_turn = false;
  Tasks tasks(env_.env());
  tasks.spawn([](Outgoing& outgoing, Steady deadline, bool& done) -> Task<> {
    const auto turn = co_await outgoing.take("a", "h:80", deadline);
    done = turn.has_value();
  }(outgoing_, env_.env().clock.steady() + seconds{30}, has_turn));
  env_.advance(seconds{10});
  EXPECT_FALSE(has_turn);
  host.pop_back();
  env_.advance(seconds{1});
  EXPECT_TRUE(has_turn);
}

TEST_F(OutgoingTest, a_host_that_hangs_is_left_alone_by_that_tenant_ever_longer) {
  hang("a", "h:80", seconds{30});
  EXPECT_EQ(refusal("a", "h:80"), "h:80: its host has not answered in time (attempts: 1); it is asked again in 10s");
  EXPECT_EQ(refusal("b", "h:80"), "") << "of another tenant";
  EXPECT_EQ(refusal("a", "h:81"), "") << "another server";
  // One whose time-out ends later waits for that moment.
  const Steady before = env_.env().clock.steady();
  EXPECT_TRUE(take("a", "h:80", seconds{60}));
  EXPECT_GE(env_.env().clock.steady() - before, seconds{9});
  hang("a", "h:80", seconds{30});
  EXPECT_TRUE(refusal("a", "h:80").contains("(attempts: 2); it is asked again in 20s")) << refusal("a", "h:80");
  env_.advance(seconds{20});
  auto answered = take("a", "h:80");
  ASSERT_TRUE(answered);
  (*answered)->ended(nullptr);
  hang("a", "h:80", seconds{30});
  EXPECT_TRUE(refusal("a", "h:80").contains("(attempts: 1)")) << "an answer ends the series";
}

TEST_F(OutgoingTest, a_call_that_gave_up_early_says_nothing_about_its_host) {
  hang("a", "h:80", seconds{1});
  EXPECT_EQ(refusal("a", "h:80"), "");
}

TEST_F(OutgoingTest, the_process_itself_has_no_limit) {
  const Turns turns = take_all("", "h:80", 2 * Outgoing::kMaxOfTenant);
  hang("", "h:80", seconds{30});
  EXPECT_EQ(refusal("", "h:80"), "");
}

}  // namespace
}  // namespace slipway::net

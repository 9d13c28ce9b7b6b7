// An object whose reconcile goes on failing says so in its conditions, until a reconcile succeeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/runtime.h"
#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

/// Fails as long as the test wants it.
class Failing : public control::Controller {
 public:
  explicit Failing(const bool& fails) : fails_(fails) {}

  std::string name() const override { return "failing"; }
  void watch(control::Watches& watches) override { watches.primary(kTraits); }
  Task<control::Outcome> reconcile(control::Reconcile&) override {
    if (fails_) co_return control::Outcome::failed(fail(Reason::Forbidden, "pods is forbidden").error());
    co_return control::Outcome::settled();
  }

 private:
  const bool& fails_;
};

class ReconcileErrors : public RolloutTest {
 public:
  void begin() {
    deployment("web-v1", 1);
    rollout("web-v1", {}, "{numBatches: 1}");
    until_state("rolloutSucceed");
    clusters_ = std::make_unique<control::OneCluster>("home", api_->server());
    runtime_ = std::make_unique<control::Runtime>(*env_, *clusters_);
    runtime_->add("home", std::make_unique<Failing>(fails_));
    runtime_->start();
  }
  void TearDown() override {
    env_->drop_all();
    runtime_.reset();
    RolloutTest::TearDown();
  }
  Value told() { return kube::condition(get(kTraits, "r"), "ReconcileError"); }

 protected:
  bool fails_ = true;
  std::unique_ptr<control::OneCluster> clusters_;
  std::unique_ptr<control::Runtime> runtime_;
};

TEST_F(ReconcileErrors, stand_in_the_conditions_from_the_third_on_until_one_succeeds) {
  begin();
  advance(seconds{30});
  EXPECT_EQ(told()["status"].as_string(), "True") << json::print_pretty(status());
  EXPECT_EQ(told()["reason"].as_string(), "Forbidden");
  EXPECT_EQ(told()["message"].as_string(), "slipway-failing: pods is forbidden");
  EXPECT_EQ(condition("RolloutSucceed"), "True rolloutSucceed") << "the others stay";
  // The rollout's own controller has succeeded all the time, and is not the one that fails.
  patch(kTraits, "r", "{metadata: {labels: {a: b}}}");
  advance(seconds{30});
  EXPECT_EQ(told()["status"].as_string(), "True");
  fails_ = false;
  advance(minutes{6});
  EXPECT_TRUE(told().is_null()) << json::print_pretty(status());
  EXPECT_EQ(condition("RolloutSucceed"), "True rolloutSucceed");
}

}  // namespace
}  // namespace slipway::rollout_test

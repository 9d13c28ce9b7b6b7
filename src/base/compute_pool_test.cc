#include "base/compute_pool.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "base/manual_env.h"

namespace slipway {
namespace {

/// Runs the work at once and notes for whom.
class NotingPool : public ComputePool {
 public:
  explicit NotingPool(RunQueue& queue) : queue_(queue) {}
  void submit_for(std::string_view tenant, std::move_only_function<void()> work,
                  std::move_only_function<void()> done) override {
    tenants.emplace_back(tenant);
    work();
    queue_.post(std::move(done));
  }
  std::vector<std::string> tenants;

 private:
  RunQueue& queue_;
};

TEST(ComputePool, work_is_handed_in_under_the_name_of_its_tenant) {
  ManualEnv manual;
  NotingPool pool(manual.queue());
  Env& usual = manual.env();
  Env env{usual.executor, usual.clock,     usual.random, usual.commits, pool,
          usual.files,    usual.processes, usual.vfs,    usual.log,     usual.metrics};
  int runs = 0;
  manual.run([](Env& here, int& count) -> Task<> {
    co_await compute_for(here, "shop", [&count] { ++count; });
    co_await compute_for(here, "bank", [&count] { ++count; });
    co_await run_on(here, here.compute, [&count] { ++count; });
  }(env, runs));
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(pool.tenants, (std::vector<std::string>{"shop", "bank", ""}));
}

TEST(ComputePool, without_one_work_runs_inline) {
  ManualEnv manual;
  bool has_run = false;
  manual.run([](Env& here, bool& done) -> Task<> {
    co_await compute_for(here, "shop", [&done] { done = true; });
    EXPECT_TRUE(done);
  }(manual.env(), has_run));
  EXPECT_TRUE(has_run);
}

TEST(ComputePool, what_work_throws_is_thrown_to_the_one_who_waits) {
  ManualEnv manual;
  NotingPool pool(manual.queue());
  Env& usual = manual.env();
  Env pooled{usual.executor, usual.clock,     usual.random, usual.commits, pool,
             usual.files,    usual.processes, usual.vfs,    usual.log,     usual.metrics};
  const auto throws = [] { throw std::out_of_range("stoul"); };
  for (Env* env : {&usual, &pooled}) {
    std::vector<std::string> caught;
    manual.run([](Env& here, auto work, std::vector<std::string>& texts) -> Task<> {
      try {
        co_await compute_for(here, "shop", work);
      } catch (const std::out_of_range& thrown) {
        texts.emplace_back(thrown.what());
      }
      try {
        co_await compute_until(here, "shop", work, here.clock.steady() + std::chrono::seconds{1});
      } catch (const std::out_of_range& thrown) {
        texts.emplace_back(thrown.what());
      }
    }(*env, throws, caught));
    EXPECT_EQ(caught, (std::vector<std::string>{"stoul", "stoul"}));
  }
}

}  // namespace
}  // namespace slipway

#include "base/compute_pool.h"

#include "base/guarded_work.h"

namespace slipway {

Task<> compute_for(Env& env, std::string tenant, std::move_only_function<void()> work) {
  auto* pool = dynamic_cast<ComputePool*>(&env.compute);
  if (pool == nullptr) {
    co_await run_on(env, env.compute, std::move(work));
    co_return;
  }
  TenantLane lane(*pool, std::move(tenant));
  co_await run_on(env, lane, std::move(work));
}

Task<bool> compute_until(Env& env, std::string tenant, std::move_only_function<void()> work, Steady deadline) {
  struct State {
    explicit State(Env& of) : ended(of) {}
    bool is_done = false;
    Signal ended;
  };
  const auto state = std::make_shared<State>(env);
  const auto done = [weak = std::weak_ptr<State>(state)] {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->is_done = true;
    alive->ended.notify();
  };
  GuardedWork guarded(std::move(work));
  const auto thrown = guarded.thrown();
  auto* pool = dynamic_cast<ComputePool*>(&env.compute);
  if (pool == nullptr) {
    env.compute.submit(std::move(guarded), done);
  } else {
    pool->submit_for(tenant, std::move(guarded), done);
  }
  while (!state->is_done) {
    if (!co_await state->ended.wait_until(deadline) && !state->is_done) co_return false;
  }
  if (*thrown) std::rethrow_exception(*thrown);
  co_return true;
}

}  // namespace slipway

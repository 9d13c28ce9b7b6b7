#include "base/compute_pool.h"

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

}  // namespace slipway

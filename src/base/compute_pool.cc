#include "base/compute_pool.h"

namespace slipway {

namespace {

/// What one tenant sees of a pool.
class TenantLane : public Lane {
 public:
  TenantLane(ComputePool& pool, std::string tenant) : pool_(pool), tenant_(std::move(tenant)) {}
  void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) override {
    pool_.submit_for(tenant_, std::move(work), std::move(done));
  }

 private:
  ComputePool& pool_;
  std::string tenant_;
};

}  // namespace

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

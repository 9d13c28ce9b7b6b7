// Computing for several tenants: templates and other heavy pure functions, away
// from the logic thread. On the machine Env::compute is such a pool
// (os/compute_pool.h); in tests and the simulator it is a lane that runs
// everything inline.
//
//   co_await compute_for(env, project, [&] { rendered = render(program,
//   parameter, limits); });
//
// Tenants take turns: each gets one piece of work begun before any gets its
// next. Those of one begin in their order, and may run beside each other. Work
// is never interrupted, so it ends by itself: a budget, a deadline
// (cue::Limits).
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"

namespace slipway {

class ComputePool : public Lane {
 public:
  /// Runs `work` for `tenant` (any name: a project, a user), then calls `done`
  /// on the Env's executor. The work must touch nothing of the logic thread's.
  virtual void submit_for(std::string_view tenant, std::move_only_function<void()> work,
                          std::move_only_function<void()> done) = 0;
  /// The same for work of no tenant in particular: it shares one queue. DIVERGES from
  /// other lanes: work may run beside what came before.
  void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) final {
    submit_for("", std::move(work), std::move(done));
  }
};

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

/// Suspends until `work` has run on Env::compute for `tenant`. What the work throws is thrown here.
Task<> compute_for(Env& env, std::string tenant, std::move_only_function<void()> work);

/// Like compute_for, but returns false at `deadline`. `work` then continues, so it must own everything it uses;
/// what it throws after the deadline is dropped.
Task<bool> compute_until(Env& env, std::string tenant, std::move_only_function<void()> work, Steady deadline);

}  // namespace slipway

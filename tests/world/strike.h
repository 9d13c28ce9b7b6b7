// One fault at each point of a controller's run: whatever it is, the run ends as the clean one does.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "git/repositories.h"
#include "sim/scenario.h"

namespace slipway::sim {

/// Of the points one in so many is tried: SLIPWAY_SIM_EVERY, else `otherwise`. At least 1.
inline std::uint64_t sim_stride(std::uint64_t otherwise) {
  const char* every = std::getenv("SLIPWAY_SIM_EVERY");
  return every == nullptr ? otherwise : std::max<std::uint64_t>(1, std::strtoull(every, nullptr, 10));
}

struct Played {
  Ending ending;
  std::string state;  // what is compared with the clean run's
};

struct Strike {
  std::string name;                                 // printed
  std::function<Played(FaultPlan faults)> play;     // the whole run, each in a world of its own
  std::function<bool(const Point& point)> is_ours;  // whether a point is of the controller
  std::uint64_t every = 8;                          // see sim_stride()
  std::uint64_t weight = 1;                         // a run costs as much as so many others: sampled that much less
  bool tries_all = false;                           // points, whatever `every` is
};

/// Of the points of a run one in so many is tried; each where all are asked for.
inline std::uint64_t stride_of(const Strike& run) {
  const std::uint64_t every = run.tries_all ? 1 : sim_stride(run.every);
  return every == 1 ? 1 : every * run.weight;
}

/// Git over real repositories, with its mirrors in `folder`: one for all servers of a world, as `slipway up` is one process.
inline std::function<std::unique_ptr<Git>(Env&)> git_with_mirrors(std::string folder) {
  return [folder = std::move(folder)](Env& env) -> std::unique_ptr<Git> {
    return std::make_unique<git::Repositories>(env, std::vector<Lane*>{&env.compute}, std::vector<Lane*>{&env.compute},
                                               git::RepositoriesOptions{.folder = folder});
  };
}

/// ASSERTs that a run with one fault ends, keeps its promise, and ends as `clean` did: for each of `kinds` at each point that
/// it applies to.
inline void strike(const Strike& run, const Played& clean, const std::vector<FaultKind>& kinds) {
  std::uint64_t own = 0, tried = 0;
  for (std::uint64_t point = 0; point < clean.ending.recorded.size(); ++point) {
    const Point& recorded = clean.ending.recorded[point];
    if (!run.is_ours(recorded) || own++ % stride_of(run) != 0) continue;
    for (const FaultKind kind : kinds) {
      if (!applies(kind, recorded.moment, recorded.is_write)) continue;
      FaultPlan plan{.exact = {{point, kind}}};
      const std::string what = fmt::format("{}: {} at {}", run.name, plan.to_string(), recorded.what);
      const Played struck = run.play(std::move(plan));
      ++tried;
      ASSERT_TRUE(struck.ending.is_over) << "stuck after " << what << "\n" << struck.state;
      ASSERT_EQ(struck.state, clean.state) << what;
      ASSERT_EQ(struck.ending.broken_promise, "") << what;
    }
  }
  fmt::print("sim: {}: {} points of its controller, {} faults tried\n", run.name, own, tried);
  EXPECT_GT(tried, 0U);
}

}  // namespace slipway::sim

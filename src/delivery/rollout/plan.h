// What a rollout will do, said before it does anything: the sizes after each batch, its share of the traffic, and what it asks.
// Pure; `slipway rollout plan` prints it from files, descriptions print it of objects that are there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/rollout/settings.h"
#include "delivery/rollout/subject.h"

namespace slipway::delivery::rollout {

struct PlannedBatch {
  std::int64_t goal = 0;  // pods that are new after it; of a scale: all pods
  std::optional<std::int64_t> old_pods{};
  std::int64_t added = 0;            // of a scale downward: pods that go
  std::int64_t max_unavailable = 0;  // pods
  std::optional<std::int64_t> weight{};
  std::vector<std::string> gates{};  // "before smoke (webhook)", in order
  std::string note{};
};

struct Forecast {
  wave::Shape shape = wave::Shape::Pair;
  std::int64_t from = 0;  // pods before
  std::int64_t to = 0;    // and after
  std::vector<PlannedBatch> batches{};
  std::vector<std::string> first{};  // gates of the beginning, of the end, and those throughout
  std::vector<std::string> last{};
  std::vector<std::string> throughout{};
};

/// REQUIRES: both sizes are known. `from` is the size before: of the sources together, of a scale or one object its own.
Forecast forecast(const PlanSettings& plan, std::int64_t from);
/// A heading and a table with a row for each batch. Ends in a line end.
std::string print(const Forecast& forecast, const Subject& subject);

/// `slipway rollout plan -f FILE… [--size N]`.
Command plan_command();

}  // namespace slipway::delivery::rollout

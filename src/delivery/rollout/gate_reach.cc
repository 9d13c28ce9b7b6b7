#include "delivery/rollout/gate_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace slipway::delivery::rollout {
namespace {

constexpr std::int64_t kMaxReachSize = 1'000'000;

/// Where an approval gate stands: how many batches have their pods before it is asked.
struct GatePlace {
  std::string key;
  std::size_t grown = 0;
};

std::size_t batch_count(const wave::Settings& settings) {
  if (!settings.batches.empty()) return settings.batches.size();
  return static_cast<std::size_t>(std::max<std::int64_t>(1, settings.num_batches.value_or(1)));
}

/// None at `throughout` and `finalize`: those hold no pods back. Those at `initialize` come before everything in every plan.
std::vector<GatePlace> approval_places(const PlanSettings& read) {
  std::vector<GatePlace> places;
  for (std::size_t i = 0; i < batch_count(read.settings); ++i) {
    const wave::RollBatch& batch = read.settings.batches.empty() ? read.settings.every_batch : read.settings.batches[i];
    for (const wave::Gate& gate : batch.gates) {
      const std::string key = wave::gate_key(static_cast<std::int64_t>(i), gate.at, gate.name);
      const gate::GateSpec* spec = read.find_gate(key);
      if (spec == nullptr || !spec->approval || gate.at == wave::Moment::Throughout) continue;
      places.push_back({.key = key, .grown = gate.at == wave::Moment::BeforeBatch ? i : i + 1});
    }
  }
  return places;
}

bool begins_with_approval(const PlanSettings& read) {
  return std::ranges::any_of(read.settings.gates, [&](const wave::Gate& gate) {
    const gate::GateSpec* spec = read.find_gate(wave::gate_key(std::nullopt, gate.at, gate.name));
    return gate.at == wave::Moment::Initialize && spec != nullptr && spec->approval;
  });
}

/// Of a roll to `size` pods: how many are new once the first 0, 1, 2 … batches have run. Those after the partition do not run.
std::vector<std::int64_t> pods_after_batches(const PlanSettings& read, std::int64_t size) {
  const wave::Settings& settings = read.settings;
  const std::size_t count = batch_count(settings);
  const std::int64_t total = std::clamp<std::int64_t>(size, 0, kMaxReachSize);
  std::vector<wave::Batch> sizes;
  for (const wave::RollBatch& batch : settings.batches) {
    wave::Batch& one = sizes.emplace_back(batch.sizes);
    if (one.amount) one.amount->number = std::min(one.amount->number, kMaxReachSize);
  }
  if (sizes.empty()) sizes = wave::equal_batches(total, static_cast<std::int64_t>(count));
  std::vector<std::int64_t> pods{0};
  for (const std::int64_t goal : wave::goals(sizes, 0, total)) {
    const bool runs = !settings.partition || static_cast<std::int64_t>(pods.size()) - 1 <= *settings.partition;
    pods.push_back(runs ? goal : pods.back());
  }
  return pods;
}

/// The sizes to compare the plans at: that of `before`, and that of `after`.
std::vector<std::pair<std::int64_t, std::int64_t>> sizes_to_compare(std::optional<std::int64_t> before,
                                                                    std::optional<std::int64_t> after,
                                                                    std::optional<std::int64_t> recorded) {
  std::vector<std::int64_t> any;
  for (std::int64_t size = 1; size <= 64; ++size) any.push_back(size);
  any.insert(any.end(), {100, 1'000, 10'000});
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  if (!before && !after) {
    if (recorded) any.push_back(*recorded);
    for (const std::int64_t size : any) pairs.emplace_back(size, size);
    return pairs;
  }
  if (recorded) any = {*recorded};
  for (const std::int64_t size : any) pairs.emplace_back(before.value_or(size), after.value_or(size));
  return pairs;
}

}  // namespace

std::optional<std::string> widened_reach(const ReadPlan& before, const ReadPlan& after, std::optional<std::int64_t> size) {
  const std::vector<GatePlace> places = approval_places(before.settings);
  if (places.empty() && !begins_with_approval(before.settings)) return std::nullopt;
  const auto& old_size = before.plan.target_size;
  const auto& new_size = after.plan.target_size;
  const std::optional<std::int64_t> known = old_size ? old_size : size;
  if (new_size != old_size && new_size && (!known || *new_size > *known)) return "spec.rolloutPlan.targetSize";
  std::map<std::string, std::size_t> grown;
  for (const GatePlace& place : approval_places(after.settings)) grown.emplace(place.key, place.grown);
  // A gate of the plan is not asked at a batch that is not there any more.
  for (const GatePlace& place : places) grown.emplace(place.key, batch_count(after.settings.settings));
  for (const auto& [size_before, size_after] : sizes_to_compare(old_size, new_size, size)) {
    const std::vector<std::int64_t> then = pods_after_batches(before.settings, size_before),
                                    next = pods_after_batches(after.settings, size_after);
    for (const GatePlace& place : places) {
      if (next[grown[place.key]] > then[place.grown]) return fmt::format("spec.rolloutPlan.gates[{}]", place.key);
    }
  }
  return std::nullopt;
}

}  // namespace slipway::delivery::rollout

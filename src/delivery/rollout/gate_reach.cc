#include "delivery/rollout/gate_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace slipway::delivery::rollout {
namespace {

constexpr std::int64_t kMaxReachSize = 1'000'000;

/// Where an approval gate stands: how many batches have their pods, and how many their traffic, before it is asked.
struct GatePlace {
  std::string key;
  std::size_t grown = 0;
  std::size_t shifted = 0;
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
      const bool is_before = gate.at == wave::Moment::BeforeBatch;
      const bool is_after_traffic = gate.at == wave::Moment::AfterTraffic || gate.at == wave::Moment::AfterBatch;
      places.push_back({.key = key, .grown = is_before ? i : i + 1, .shifted = is_after_traffic ? i + 1 : i});
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

/// What the first batches of a plan do at one size.
class Extent {
 public:
  Extent(const ReadPlan& read, std::int64_t size) : plan_(read.plan), size_(std::clamp<std::int64_t>(size, 0, kMaxReachSize)) {
    const wave::Settings& settings = read.settings.settings;
    const std::size_t count = batch_count(settings);
    released_ = settings.partition ? std::min(count, static_cast<std::size_t>(*settings.partition) + 1) : count;
    std::vector<wave::Batch> sizes;
    for (const wave::RollBatch& batch : settings.batches) {
      wave::Batch& one = sizes.emplace_back(batch.sizes);
      if (one.amount) one.amount->number = std::min(one.amount->number, kMaxReachSize);
    }
    if (sizes.empty()) sizes = wave::equal_batches(size_, static_cast<std::int64_t>(count));
    goals_ = wave::goals(sizes, 0, size_);
    for (std::size_t i = 0; i < released_; ++i) weights_.push_back(std::max(weight_of(i), i == 0 ? 0 : weights_.back()));
  }

  std::int64_t pods(std::size_t batches) const { return last(goals_, batches); }
  std::int64_t weight(std::size_t batches) const { return last(weights_, batches); }

 private:
  std::int64_t last(const std::vector<std::int64_t>& rising, std::size_t batches) const {
    const std::size_t run = std::min(batches, released_);
    return run == 0 ? 0 : rising[run - 1];
  }
  /// Percent, rounded up; without one of its own it is the share of new pods.
  std::int64_t weight_of(std::size_t batch) const {
    const bool is_own = plan_.traffic && batch < plan_.batches.size() && plan_.batches[batch].traffic;
    if (is_own && plan_.batches[batch].traffic->weight) return *plan_.batches[batch].traffic->weight;
    return size_ == 0 ? 0 : (100 * goals_[batch] + size_ - 1) / size_;
  }

  const RolloutPlan& plan_;
  std::int64_t size_;
  std::size_t released_ = 0;
  std::vector<std::int64_t> goals_{};
  std::vector<std::int64_t> weights_{};
};

/// Requests that the first batches send to the new version whatever the weight, and the greatest mirror.
struct Routed {
  std::vector<json::Value> matches{};
  std::int64_t mirror = 0;
};

Routed routed_by(const ReadPlan& read, std::size_t batches) {
  Routed routed;
  const auto& partition = read.settings.settings.partition;
  if (!read.plan.traffic) return routed;
  std::size_t run = std::min(batches, read.plan.batches.size());
  if (partition) run = std::min(run, static_cast<std::size_t>(*partition) + 1);
  for (std::size_t i = 0; i < run; ++i) {
    const auto& traffic = read.plan.batches[i].traffic;
    if (!traffic) continue;
    routed.matches.insert(routed.matches.end(), traffic->matches.begin(), traffic->matches.end());
    routed.mirror = std::max(routed.mirror, traffic->mirror_percent.value_or(0));
  }
  return routed;
}

bool routes_more(const Routed& before, const Routed& after) {
  const auto is_new = [&](const json::Value& match) {
    return std::ranges::find(before.matches, match) == before.matches.end();
  };
  return after.mirror > before.mirror || std::ranges::any_of(after.matches, is_new);
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
  std::map<std::string, GatePlace> now;
  for (const GatePlace& place : approval_places(after.settings)) now.emplace(place.key, place);
  const std::size_t all = batch_count(after.settings.settings);
  std::vector<std::pair<const GatePlace*, GatePlace>> pairs;
  for (const GatePlace& place : places) {
    const auto found = now.find(place.key);
    // A gate of the plan is not asked at a batch that is not there any more.
    pairs.emplace_back(&place, found != now.end() ? found->second : GatePlace{.key = place.key, .grown = all, .shifted = all});
  }
  const auto path_of = [](const GatePlace& place) { return fmt::format("spec.rolloutPlan.gates[{}]", place.key); };
  for (const auto& [one, other] : pairs) {
    if (routes_more(routed_by(before, one->shifted), routed_by(after, other.shifted))) return path_of(*one);
  }
  for (const auto& [size_before, size_after] : sizes_to_compare(old_size, new_size, size)) {
    const Extent then(before, size_before), next(after, size_after);
    for (const auto& [one, other] : pairs) {
      if (next.pods(other.grown) > then.pods(one->grown)) return path_of(*one);
      if (after.plan.traffic && next.weight(other.shifted) > then.weight(one->shifted)) return path_of(*one);
    }
  }
  return std::nullopt;
}

}  // namespace slipway::delivery::rollout

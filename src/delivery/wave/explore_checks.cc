#include "delivery/wave/explore_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count.h"

namespace slipway::delivery::wave {
namespace {

using Kind = Effect::Kind;

bool is_write(Kind kind) { return kind == Kind::Claim || kind == Kind::Resize || kind == Kind::Renew; }

std::int64_t goal_before(const Record& r) {
  return r.current_batch == 0 ? 0 : r.goals[static_cast<std::size_t>(r.current_batch - 1)];
}

struct Sums {
  std::int64_t desired = 0, old_ready = 0, new_ready = 0, old_desired = 0;
};

/// Ready is what is left of it at worst: a set that shrinks loses what is not ready first.
Sums sums(const Scenario& scenario, const SmallWorld& small) {
  Sums out;
  for (std::size_t i = 0; i < small.sets.size(); ++i) {
    const SmallSet& set = small.sets[i];
    const std::int64_t ready = std::min(set.ready, set.desired);
    out.desired += set.desired;
    if (i != small.target || is_mixed(scenario)) out.old_ready += ready, out.old_desired += set.desired;
    if (i == small.target) out.new_ready += is_mixed(scenario) ? set.updated_ready : ready;
  }
  return out;
}

/// A scale goes its way by the goals.
std::string check_scale(const SmallWorld& after) {
  const Record& r = *after.memory;
  const std::int64_t from = r.current_batch == 0 ? r.original_size : goal_before(r);
  const std::int64_t to = r.goals[static_cast<std::size_t>(r.current_batch)], now = after.sets[0].desired;
  if (now >= std::min(from, to) && now <= std::max(from, to)) return "";
  return fmt::format("{} pods are asked for, which must be in [{}, {}]", now, std::min(from, to), std::max(from, to));
}

std::string check_sizes(const Scenario& scenario, const SmallWorld& before, const SmallWorld& after) {
  const Record& r = *after.memory;
  const Sums was = sums(scenario, before), now = sums(scenario, after);
  const std::int64_t total = r.target_size, goal = r.goals[static_cast<std::size_t>(r.current_batch)];
  const std::int64_t batch = std::max(goal, std::min(r.target->written, total)) - goal_before(r);
  const bool is_increase = scenario.strategy == Strategy::IncreaseFirst;
  const std::int64_t least = is_increase ? total : total - batch, most = is_increase ? total + batch : total;
  if (now.desired < least || now.desired > most) {
    return fmt::format("{} pods are asked for, which must be in [{}, {}]", now.desired, least, most);
  }
  const bool pods_were_lost = scenario.disturbance == Disturbance::PodLost || scenario.disturbance == Disturbance::Resize;
  const std::int64_t ready = now.old_ready + now.new_ready, floor = least - scenario.max_unavailable;
  const bool some_go = ready < was.old_ready + was.new_ready;
  if (some_go && ready < floor && !pods_were_lost) {
    return fmt::format("only {} pods are ready, which must be {}", ready, floor);
  }
  return "";
}

/// A revert keeps the bounds of the batches, whichever it undoes.
std::string check_revert_sizes(const Scenario& scenario, const SmallWorld& before, const SmallWorld& after) {
  const Record& r = *after.memory;
  std::int64_t originally = r.target->original;
  for (const SetRecord& source : r.sources) originally += source.original;
  const std::int64_t batch = std::ranges::max(scenario.batches);
  const Sums was = sums(scenario, before), now = sums(scenario, after);
  const bool is_increase = scenario.strategy == Strategy::IncreaseFirst;
  const std::int64_t surge = is_increase ? batch : scenario.has_traffic ? 1 : 0;
  const std::int64_t most = std::max(r.target_size, originally) + surge;
  if (now.desired > most && now.desired > was.desired && scenario.disturbance != Disturbance::Resize) {
    return fmt::format("a revert asks for {} pods, which must be {} at most", now.desired, most);
  }
  const std::int64_t least = std::min(r.target_size, originally) - (is_increase ? 0 : batch) - scenario.max_unavailable;
  const std::int64_t ready = now.old_ready + now.new_ready;
  const bool some_go = ready < was.old_ready + was.new_ready;
  const bool pods_were_lost = scenario.disturbance == Disturbance::PodLost || scenario.disturbance == Disturbance::Resize;
  if (!some_go || ready >= least || pods_were_lost) return "";
  return fmt::format("a revert leaves only {} pods ready, which must be {}", ready, least);
}

std::string check_weight(const Scenario& scenario, const SmallWorld& before, std::int64_t weight) {
  if (scenario.disturbance == Disturbance::StaleRead || scenario.disturbance == Disturbance::PodLost) return "";
  const Sums now = sums(scenario, before);
  if (weight > 0 && now.new_ready == 0) return "traffic for a target without ready pods";
  if (weight < 100 && now.old_ready == 0 && now.new_ready > 0) return "traffic for sources without ready pods";
  const Record& r = *before.memory;
  const bool is_plain = r.rolling == Rolling::RollingInBatches && scenario.shape == Shape::Pair &&
                        scenario.strategy == Strategy::IncreaseFirst && now.old_ready > 0;
  if (is_plain && weight * r.target_size > 100 * (now.new_ready + scenario.max_unavailable)) {
    return "more traffic than ready pods have a share";
  }
  return "";
}

std::string check_drain(const Scenario& scenario, const SmallWorld& before, const SmallWorld& after, const Effect& effect) {
  if (!scenario.has_traffic || scenario.shape != Shape::Pair || before.memory->rolling == Rolling::Initializing) return "";
  const bool is_target = effect.set == before.memory->target->id;
  const Sums was = sums(scenario, before), now = sums(scenario, after);
  if (now.desired >= was.desired || before.memory->target_size < 2) return "";
  if (scenario.disturbance == Disturbance::Resize && scenario.target_size) return "";  // what others added is put back
  if (is_target && after.sets[before.target].desired > 0) return "";
  if (!is_target && was.new_ready == 0 && now.old_desired > 0) return "";  // there is nowhere else for it to go
  if (is_target && before.traffic.weight > 0) return "a target with traffic goes";
  if (!is_target && now.old_desired == 0 && before.traffic.weight < 100) return "sources with traffic go";
  const auto& accepted = before.memory->weight_accepted;
  const bool is_drained =
      accepted && accepted->time_since_epoch() + std::chrono::seconds{kDrainSeconds} <= std::chrono::seconds{before.now};
  return before.traffic.is_accepted && is_drained ? "" : "pods go before their connections had time to end";
}

std::string check_given_back(const Scenario& scenario, const SmallWorld& small) {
  for (const SmallSet& set : small.sets) {
    if (set.is_ours || set.stamp != 0) return "a workload was not given back";
  }
  return scenario.has_traffic && !small.traffic.is_restored ? "the traffic was not given back" : "";
}

/// Old pods stay as far as the batch leaves them.
std::string check_removal(const SmallWorld& before, const SmallWorld& after) {
  const Record& r = *before.memory;
  const std::int64_t gone = (before.sets[0].present - before.sets[0].updated) - (after.sets[0].present - after.sets[0].updated);
  if (gone == 0) return "";
  if (r.rolling != Rolling::RollingInBatches || !before.sets[0].is_ours) return "pods of others are removed";
  const std::int64_t are_to_stay = r.target_size - r.goals[static_cast<std::size_t>(r.current_batch)];
  const bool is_beyond = after.sets[0].present - after.sets[0].updated < are_to_stay;
  return is_beyond ? "more pods are replaced than the batch has" : "";
}

std::string check_success(const Scenario& scenario, const SmallWorld& small) {
  const SmallSet& target = small.sets[small.target];
  if (scenario.shape == Shape::Fields) return target.asked_new == target.desired ? "" : "a success leaves old fields";
  if (is_mixed(scenario)) {
    // Of a DaemonSet nodes may have come since.
    const bool has_nodes_more = scenario.shape == Shape::Replace && scenario.disturbance == Disturbance::Resize;
    const bool is_new = target.updated == target.present && (has_nodes_more || target.updated_ready == target.desired);
    return is_new ? "" : "a success leaves old pods";
  }
  if (scenario.disturbance == Disturbance::Resize) return "";  // it may have been after the end
  std::int64_t size = 0;
  for (const std::int64_t pods : scenario.sources) size += pods;
  size = scenario.target_size.value_or(size);
  const Sums now = sums(scenario, small);
  if (target.desired != size || now.desired != size) return fmt::format("a success leaves other sizes than 0 and {}", size);
  return scenario.has_traffic && small.traffic.weight != 100 ? "a success leaves traffic behind" : "";
}

std::string check_reverted(const Scenario& scenario, const SmallWorld& small) {
  if (is_mixed(scenario)) return small.sets[0].updated == 0 ? "" : "a revert leaves new pods";
  if (scenario.shape == Shape::Fields) return small.sets[0].asked_new == 0 ? "" : "a revert leaves new fields";
  for (std::size_t i = 0; i < small.sets.size(); ++i) {
    const std::int64_t was = i < scenario.sources.size() ? scenario.sources[i] : 0;
    if (small.sets[i].desired != was) return fmt::format("a revert leaves {} at {}, not {}", i, small.sets[i].desired, was);
  }
  return small.traffic.weight == 0 ? "" : "a revert leaves traffic on the target";
}

}  // namespace

std::string check_pass(const Scenario& scenario, const SmallWorld& small, const Decision& decision) {
  const Record& was = *small.memory;
  const Record& r = decision.record;
  const bool is_rolling = was.rolling == Rolling::RollingInBatches && r.rolling == Rolling::RollingInBatches;
  if (!decision.effects.empty()) {
    if (small.is_paused && !was.position().is_end()) return "a paused rollout acts";
    const bool is_past_partition = was.current_batch > 0 || was.batch == BatchState::Ready;
    if (small.is_held && was.rolling == Rolling::RollingInBatches && is_past_partition) return "a held rollout acts";
    const bool is_asked_for_more = small.is_deleted || scenario.disturbance == Disturbance::Retarget;
    if (was.position().is_end() && !is_asked_for_more) return "a finished rollout acts";
  }
  if (is_rolling && was.attempt == r.attempt && r.current_batch < was.current_batch) return "a batch comes again";
  if (small.is_held && is_rolling && r.current_batch > was.current_batch) return "a batch beyond the partition begins";
  if (scenario.shape == Shape::Scale) return "";  // its goals go down as well as up: check_scale()
  if (r.rolling == Rolling::RollingInBatches) {
    const std::int64_t goal = r.goals[static_cast<std::size_t>(r.current_batch)];
    if (r.upgraded > goal || r.upgraded < std::min(goal, goal_before(r))) return "updated pods are miscounted";
    if (scenario.shape == Shape::Pair && r.goals.back() != r.target_size) return "the last goal is not T";
  }
  for (std::size_t i = 1; i < r.goals.size(); ++i) {
    if (r.goals[i] < r.goals[i - 1] || r.goals[i] > r.target_size) return "goals are not a way to T";
  }
  return "";
}

std::string check_effect(const Scenario& scenario, const SmallWorld& before, const SmallWorld& after, const Effect& effect) {
  if (effect.kind == Kind::Shift && before.memory->rolling != Rolling::Initializing) {
    return check_weight(scenario, before, effect.number);
  }
  if (effect.kind == Kind::Remove) return check_removal(before, after);
  if (!is_write(effect.kind) || before.sets == after.sets) return "";
  const auto index = static_cast<std::size_t>(leading_count(effect.set.substr(1)) - 1);
  if (effect.kind != Kind::Claim && !before.sets[index].is_ours) return "a workload of others is written to";
  const bool was_stale = index < before.seen_sets.size() && before.seen_sets[index].revision != before.sets[index].revision;
  if (was_stale) return "what was decided on an old view is written";
  if (before.sets[index].stamp > effect.stamp) return "an older write undoes a newer one";
  if (scenario.shape == Shape::InPlace || scenario.shape == Shape::Fields) {
    const Record& r = *before.memory;
    const bool is_beyond =
        r.rolling == Rolling::RollingInBatches && after.sets[0].asked_new > r.goals[static_cast<std::size_t>(r.current_batch)];
    return is_beyond && effect.kind == Kind::Renew ? "more pods are new than the batch has" : "";
  }
  if (const std::string wrong = check_drain(scenario, before, after, effect); !wrong.empty()) return wrong;
  const bool is_rolling = before.memory->rolling == Rolling::RollingInBatches && before.memory->failure.empty();
  if (scenario.shape == Shape::Replace) return "";
  if (scenario.shape == Shape::Scale) return is_rolling ? check_scale(after) : "";
  const bool is_resized = before.sets[index].desired != after.sets[index].desired;
  if (is_resized && before.memory->is_reverting && before.memory->target) return check_revert_sizes(scenario, before, after);
  return is_rolling && is_resized ? check_sizes(scenario, before, after) : "";
}

std::string check_end(const Scenario& scenario, const SmallWorld& small, const std::vector<Waiting>& waits) {
  const Record& r = *small.memory;
  if (!r.position().is_end()) {
    return fmt::format("never ends: waits for {}", waits.empty() ? "nothing" : waits.back().on + ": " + waits.back().text);
  }
  if (r.attempt > (scenario.disturbance == Disturbance::Retarget ? 2 : 1)) return "it was begun again";
  if (std::string wrong = check_given_back(scenario, small); !wrong.empty()) return wrong;
  if (r.rolling == Rolling::Succeeded) return check_success(scenario, small);
  if (scenario.disturbance != Disturbance::HookRefused && scenario.disturbance != Disturbance::Delete) {
    // Resized before the attempt has begun, a plan in whole numbers does not fit any more.
    const bool fits_not = scenario.disturbance == Disturbance::Resize && r.failure.starts_with("rolloutBatches");
    return fits_not ? "" : "fails: " + r.failure;
  }
  const bool must_revert = scenario.reverts_on_delete || scenario.on_failure == OnFailure::Revert;
  return must_revert ? check_reverted(scenario, small) : "";
}

std::string text_of_effect(const Effect& effect) {
  static constexpr const char* kNames[] = {"Claim", "Resize", "Renew", "Remove", "Ask", "Shift", "Undo", "Restore", "Unclaim"};
  return fmt::format("{} {}{} := {} #{}", kNames[static_cast<std::size_t>(effect.kind)], effect.set, effect.key, effect.number,
                     effect.stamp);
}

void plant_before(Bug bug, const SmallWorld& small, Settings& settings, World& world) {
  if (bug == Bug::PodsCountAsReady && world.target) {
    world.target->ready = world.target->present = world.target->desired;
    world.target->is_current = true;
  }
  if (bug == Bug::EndIsLeft && small.memory->rolling == Rolling::Succeeded && small.memory->attempt == 1) world.retries = true;
  if (bug == Bug::PauseIsUnseen) settings.is_paused = false;
  if (bug == Bug::PartitionIsUnseen) settings.partition = std::nullopt;
  if (bug == Bug::NoDrain) settings.drain = std::chrono::seconds{0};
}

void plant_after(Bug bug, const SmallWorld& small, Decision& decision) {
  Record& r = decision.record;
  const auto drop = [&](auto condition) { std::erase_if(decision.effects, condition); };
  const bool is_rolling = r.rolling == Rolling::RollingInBatches;
  if (bug == Bug::GoalIsSkipped && is_rolling) r.upgraded = r.goals[static_cast<std::size_t>(r.current_batch)] + 1;
  if (bug == Bug::BatchFallsBack && is_rolling && small.memory->current_batch > 0) r.current_batch = 0;
  if (bug == Bug::NeverReleased) drop([](const Effect& e) { return e.kind == Kind::Release; });
  if (bug == Bug::WeightIsDropped) drop([](const Effect& e) { return e.kind == Kind::Shift; });
  if (bug == Bug::SizeOfOldestKept && is_rolling) drop([](const Effect& e) { return e.kind == Kind::Resize && e.set == "v1"; });
  if (bug == Bug::WeightAtOnce && is_rolling && small.traffic.weight < 100) {
    decision.effects.push_back({.kind = Kind::Shift, .set = r.target->id, .number = 100});
  }
  if (bug == Bug::TargetIsForgotten && r.attempt == 2 && small.memory->attempt == 1 && !r.sources.empty()) r.sources.pop_back();
  if (bug == Bug::RevertIsAtOnce && r.is_reverting) r.goals = {r.target_size};
  if (bug == Bug::RevertIsShort && r.is_reverting && !small.memory->is_reverting) --r.sources.front().original;
  for (Effect& effect : decision.effects) {
    if (bug != Bug::OneTooMany || !r.target || effect.set != r.target->id) continue;
    if (effect.kind == Kind::Resize) ++effect.number;
    if (effect.kind == Kind::Remove) effect.pods.push_back(std::to_string(leading_count(effect.pods.back()) + 1));
  }
}

}  // namespace slipway::delivery::wave

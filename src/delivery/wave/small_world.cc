#include "delivery/wave/small_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count.h"

namespace slipway::delivery::wave {
namespace {

std::string set_id(std::size_t index) { return fmt::format("v{}", index + 1); }
std::size_t index_of(const std::string& id) { return static_cast<std::size_t>(leading_count(id.substr(1)) - 1); }

SetView view_of(const Scenario& scenario, const SmallSet& set, std::size_t index) {
  SetView view{.id = set_id(index), .uid = set_id(index)};
  view.desired = set.desired;
  view.present = set.present;
  view.ready = is_mixed(scenario) ? set.ready + set.updated_ready : set.ready;
  view.updated = set.updated;
  view.updated_ready = set.updated_ready;
  view.asked_new = scenario.shape == Shape::Fields ? set.stamped : set.asked_new;
  view.can_be_undone = is_mixed(scenario);
  view.stamp = set.stamp;
  view.stamped = set.stamped;
  view.is_current = set.is_synced;
  view.owner = set.is_ours ? Owner::Us : Owner::Nobody;
  if (scenario.shape != Shape::Replace) return view;
  for (std::int64_t i = 0; i < set.present - set.updated; ++i) view.old_pods.push_back(std::to_string(set.first_old + i));
  return view;
}

void add(Fingerprint& key, const SetRecord& set) {
  key.add({static_cast<std::int64_t>(index_of(set.id)), set.original, set.written, set.before, set.stamp, set.put_back,
           set.is_claimed, set.is_released});
}

void add(Fingerprint& key, const Record& r, std::int64_t now) {
  key.add({static_cast<std::int64_t>(r.rolling), static_cast<std::int64_t>(r.batch), r.current_batch, r.original_size,
           r.target_size, r.upgraded, r.attempt, r.weight.value_or(-1), r.shifted_batch, r.failure.empty(), r.is_reverting,
           static_cast<std::int64_t>(r.sources.size()), r.target.has_value()});
  for (const SetRecord& source : r.sources) add(key, source);
  if (r.target) add(key, *r.target);
  for (const std::int64_t goal : r.goals) key.add({goal});
  key.add({r.weight_accepted ? std::min(now - r.weight_accepted->time_since_epoch().count() / 1'000'000, kDrainSeconds) : -1});
  for (const GateRecord& gate : r.gates) key.add({gate.state.front()});
  key.add({-2});
}

/// A workload's controller: as many pods as asked for, those that are not ready go first. (Replace: nodes that have gone.)
bool sync(const Scenario& scenario, SmallSet& set) {
  if (set.is_synced) return false;
  set.present = scenario.shape == Shape::Replace ? std::min(set.present, set.desired) : set.desired;
  set.updated = std::min(set.updated, set.present);
  set.updated_ready = std::min(set.updated_ready, set.updated);
  set.ready = std::min(set.ready, set.present - set.updated);
  set.is_synced = true;
  return true;
}

/// One pod at a time, as InPlace's workload does it.
bool replace_one(SmallSet& set) {
  const bool all_ready = set.ready + set.updated_ready == set.present;
  if (set.asked_new > set.updated && !set.is_undone) {
    if (!all_ready && set.ready == set.present - set.updated) return false;
    set.ready = std::min(set.ready, set.present - set.updated - 1);
    ++set.updated;
    return true;
  }
  if (!set.is_undone || set.updated == 0 || (!all_ready && set.updated_ready == set.updated)) return false;
  --set.updated;
  set.updated_ready = std::min(set.updated_ready, set.updated);
  return true;
}

/// A node without a pod gets one of the template as it is now.
bool fill_node(SmallSet& set) {
  if (set.present >= set.desired) return false;
  ++set.present;
  if (!set.is_undone) ++set.updated;
  return true;
}

/// Old pods by their numbers; those that have gone already are passed over.
void remove_old(SmallSet& set, const std::vector<std::string>& pods) {
  for (const std::string& pod : pods) {
    if (leading_count(pod) < set.first_old || set.present == set.updated) continue;
    ++set.first_old;
    --set.present;
    set.ready = std::min(set.ready, set.present - set.updated);
  }
}

/// New pods that are not ready go, or the next one when all are.
void remove_new(SmallSet& set) {
  if (set.updated_ready == set.updated && set.ready + set.updated_ready == set.desired && set.updated > 0) --set.updated_ready;
  set.present -= set.updated - set.updated_ready;
  set.updated = set.updated_ready;
}

bool make_one_ready(const Scenario& scenario, SmallSet& set) {
  if (is_mixed(scenario) && set.updated_ready < set.updated) return ++set.updated_ready, true;
  if (set.ready < set.present - set.updated) return ++set.ready, true;
  return false;
}

template <class Move>
void each_set(std::vector<SmallWorld>& out, const SmallWorld& small, Move move) {
  for (std::size_t i = 0; i < small.sets.size(); ++i) {
    SmallWorld next = small;
    if (move(next.sets[i])) out.push_back(std::move(next));
  }
}

void retarget(const Scenario& scenario, SmallWorld& small) {
  if (scenario.shape != Shape::Pair) {
    SmallSet& set = small.sets[0];
    ++small.template_number;
    ++set.revision;
    if (!is_mixed(scenario)) return;
    set.ready += set.updated_ready;
    set.updated = set.updated_ready = 0;
    set.is_undone = false;
    return;
  }
  small.target = small.sets.size();
  small.sets.emplace_back();
}

}  // namespace

Fingerprint SmallWorld::fingerprint() const {
  Fingerprint key;
  for (const auto* list : {&sets, &seen_sets}) {
    for (const SmallSet& set : *list) {
      key.add({set.desired, set.present, set.ready, set.asked_new, set.updated, set.updated_ready, set.stamp, set.stamped,
               set.is_ours, set.is_synced, set.is_undone, set.first_old});
    }
    key.add({-3});
  }
  for (std::size_t i = 0; i < seen_sets.size(); ++i) key.add({seen_sets[i].revision == sets[i].revision});
  key.add({static_cast<std::int64_t>(target), template_number, traffic.weight, traffic.is_accepted, traffic.is_restored,
           static_cast<std::int64_t>(std::hash<std::string>{}(asked)), static_cast<std::int64_t>(answer), is_deleted, is_paused,
           is_held, is_disturbed});
  add(key, *durable, now);
  if (memory != durable) add(key, *memory, now);
  return key;
}

SmallWorld first_world(const Scenario& scenario) {
  SmallWorld small;
  for (std::int64_t size : scenario.sources) {
    SmallSet set;
    set.desired = set.present = set.ready = size;
    small.sets.push_back(set);
  }
  if (scenario.shape == Shape::Pair) small.sets.emplace_back();
  small.target = small.sets.size() - 1;
  return small;
}

Settings settings_of(const Scenario& scenario, const SmallWorld& small) {
  Settings settings{.shape = scenario.shape, .strategy = scenario.strategy};
  settings.target_size = scenario.target_size;
  for (std::int64_t pods : scenario.batches) {
    RollBatch batch;
    batch.sizes.amount = Amount{.number = pods};
    batch.max_unavailable = {.number = scenario.max_unavailable};
    const bool is_gated = scenario.disturbance == Disturbance::HookRefused || scenario.disturbance == Disturbance::Crash;
    if (is_gated) batch.gates.push_back({.name = "check"});
    settings.batches.push_back(std::move(batch));
  }
  settings.is_paused = small.is_paused;
  if (small.is_held) settings.partition = 0;
  settings.on_failure = scenario.on_failure;
  settings.reverts_on_delete = scenario.reverts_on_delete;
  settings.batch_deadline = std::chrono::hours{24 * 365};
  settings.has_traffic = scenario.has_traffic;
  settings.drain = std::chrono::seconds{kDrainSeconds};
  return settings;
}

World seen_world(const Scenario& scenario, const SmallWorld& small) {
  const auto& sets = small.seen_sets.empty() ? small.sets : small.seen_sets;
  World world;
  world.now = Time{std::chrono::seconds{small.now}};
  world.target_revision = scenario.shape == Shape::Pair ? set_id(small.target) : fmt::format("t{}", small.template_number);
  if (small.sets[0].is_undone) world.target_revision = "t0";
  for (std::size_t i = 0; i < sets.size(); ++i) {
    (i == small.target ? world.target.emplace() : world.sources.emplace_back()) = view_of(scenario, sets[i], i);
  }
  if (!world.target) {  // it was made after what is seen
    world.target.emplace().id = set_id(small.target);
  }
  world.traffic = {.weight = small.traffic.weight, .is_accepted = small.traffic.is_accepted};
  world.traffic.is_restored = small.traffic.is_restored;
  if (small.answer != GateAnswer::Kind::Wait) world.answers[small.asked] = {.kind = small.answer};
  world.is_deleted = small.is_deleted;
  return world;
}

void carry_out(const Scenario& scenario, SmallWorld& small, const Effect& effect, bool is_blind) {
  using Kind = Effect::Kind;
  switch (effect.kind) {
    case Kind::Ask:
      small.asked = effect.key, small.answer = GateAnswer::Kind::Wait;
      return;
    case Kind::Shift:
      small.traffic = {effect.number, small.traffic.weight == effect.number && small.traffic.is_accepted, false};
      return;
    case Kind::Restore:
      small.traffic = {effect.number, true, true};
      return;
    case Kind::Claim:
    case Kind::Resize:
    case Kind::Renew:
    case Kind::Remove:
    case Kind::Undo:
    case Kind::Release:
      break;
  }
  const std::size_t index = index_of(effect.set);
  SmallSet& set = small.sets[index];
  if (effect.kind == Kind::Remove) return remove_old(set, effect.pods);  // by their names, whatever has become of the set
  const bool is_stale = index < small.seen_sets.size() && small.seen_sets[index].revision != set.revision;
  if (is_stale && !is_blind) return;
  ++set.revision;
  if (effect.kind == Kind::Release) {
    set.is_ours = false, set.stamp = set.stamped = 0;
    return;
  }
  if (effect.kind == Kind::Undo) {
    set.asked_new = 0;
    set.is_undone = is_mixed(scenario);
    if (scenario.shape == Shape::Fields) set.stamped = 0;
    if (scenario.shape == Shape::Replace) remove_new(set);
    return;
  }
  if (effect.kind == Kind::Claim) set.is_ours = true;
  set.stamp = effect.stamp, set.stamped = effect.number;
  if (scenario.shape == Shape::Replace) return;
  const bool is_size = effect.kind == Kind::Resize || scenario.shape == Shape::Pair || scenario.shape == Shape::Scale;
  std::int64_t& field = is_size ? set.desired : set.asked_new;
  if (field != effect.number && is_size) set.is_synced = false;
  if (is_size && scenario.shape == Shape::InPlace)
    set.asked_new = std::max<std::int64_t>(0, set.asked_new + effect.number - field);
  field = effect.number;
}

std::vector<SmallWorld> natural_moves(const Scenario& scenario, const SmallWorld& small) {
  std::vector<SmallWorld> out;
  each_set(out, small, [&](SmallSet& set) { return sync(scenario, set); });
  if (scenario.shape == Shape::Replace) each_set(out, small, [](SmallSet& set) { return set.is_synced && fill_node(set); });
  each_set(out, small, [&](SmallSet& set) { return set.is_synced && make_one_ready(scenario, set); });
  if (scenario.shape == Shape::InPlace) each_set(out, small, [](SmallSet& set) { return set.is_synced && replace_one(set); });
  if (!small.traffic.is_accepted) out.emplace_back(small).traffic.is_accepted = true;
  const auto& accepted = small.memory->weight_accepted;
  if (accepted && small.now < accepted->time_since_epoch().count() / 1'000'000 + kDrainSeconds) ++out.emplace_back(small).now;
  if (!small.asked.empty() && small.answer == GateAnswer::Kind::Wait) {
    out.emplace_back(small).answer = GateAnswer::Kind::Pass;
  }
  return out;
}

bool is_calmed(SmallWorld& small) {
  if (small.seen_sets.empty() && !small.is_paused && !small.is_held) return false;
  small.seen_sets.clear();
  small.is_paused = small.is_held = false;
  return true;
}

std::vector<SmallWorld> disturbances(const Scenario& scenario, const SmallWorld& small) {
  std::vector<SmallWorld> out;
  if (SmallWorld calm = small; is_calmed(calm)) out.push_back(std::move(calm));
  if (small.is_disturbed) return out;
  const std::size_t ours = out.size();
  const bool in_place = scenario.shape == Shape::InPlace;
  switch (scenario.disturbance) {
    case Disturbance::None:
    case Disturbance::Crash:
      break;
    case Disturbance::StaleRead:
      out.emplace_back(small).seen_sets = small.sets;
      break;
    case Disturbance::Pause:
      out.emplace_back(small).is_paused = true;
      break;
    case Disturbance::Hold:
      out.emplace_back(small).is_held = true;
      break;
    case Disturbance::Resize:
      for (const std::int64_t by : {-1, 1}) {
        each_set(out, small, [&](SmallSet& set) {
          if (set.desired + by < 0) return false;
          set.desired += by, ++set.revision, set.is_synced = false;
          if (in_place) set.asked_new = std::max<std::int64_t>(0, set.asked_new + by);  // the partition stays
          return true;
        });
      }
      break;
    case Disturbance::Retarget:
      retarget(scenario, out.emplace_back(small));
      break;
    case Disturbance::PodLost:
      each_set(out, small, [](SmallSet& set) { return set.ready-- > 0; });
      each_set(out, small, [](SmallSet& set) { return set.updated_ready-- > 0; });
      break;
    case Disturbance::HookRefused:
      if (!small.asked.empty() && small.answer == GateAnswer::Kind::Wait)
        out.emplace_back(small).answer = GateAnswer::Kind::Fail;
      break;
    case Disturbance::Delete:
      out.emplace_back(small).is_deleted = true;
      break;
  }
  for (std::size_t i = ours; i < out.size(); ++i) out[i].is_disturbed = true;
  return out;
}

std::string text_of(const SmallWorld& small) {
  std::string text = fmt::format("{}/{} batch {} of T {} attempt {}{}:", json::enum_name(small.memory->rolling),
                                 json::enum_name(small.memory->batch), small.memory->current_batch, small.memory->target_size,
                                 small.memory->attempt, small.is_disturbed ? " (disturbed)" : "");
  for (const SmallSet& set : small.sets) {
    text +=
        fmt::format(" [{}/{}/{} new {}/{}/{} #{}:{}{}{}]", set.desired, set.present, set.ready, set.asked_new, set.updated,
                    set.updated_ready, set.stamp, set.stamped, set.is_ours ? " ours" : "", set.is_synced ? "" : " unsynced");
  }
  for (const SetRecord& set : small.memory->sources) text += fmt::format(" {}={}#{}", set.id, set.written, set.stamp);
  if (small.memory->target)
    text += fmt::format(" ->{}={}#{}", small.memory->target->id, small.memory->target->written, small.memory->target->stamp);
  text += fmt::format(" goals {} weight {}/{}", fmt::join(small.memory->goals, ","), small.memory->weight.value_or(-1),
                      small.traffic.weight);
  if (!small.seen_sets.empty()) text += " stale";
  if (small.is_paused) text += " paused";
  if (small.is_deleted) text += " deleted";
  if (!small.memory->failure.empty()) text += " failure: " + small.memory->failure;
  return text;
}

}  // namespace slipway::delivery::wave

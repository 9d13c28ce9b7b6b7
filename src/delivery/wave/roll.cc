#include "delivery/wave/roll.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "delivery/wave/pass.h"

namespace slipway::delivery::wave {

Decision decide(const Settings& settings, const Record& record, const World& world) {
  return Pass(settings, record, world).run();
}

bool is_modified(const Settings& settings, const Record& record, const World& world) {
  if (record.rolling == Rolling::Deleting || !record.target || !world.target) return false;
  // What a revert puts back in place is the old template: no new target.
  const bool is_own_undo = record.is_reverting && settings.shape != Shape::Pair && settings.shape != Shape::Scale;
  const bool is_other_template = !record.target_revision.empty() && !world.target_revision.empty() &&
                                 record.target_revision != world.target_revision && !is_own_undo;
  const bool is_other_size = settings.target_size && record.target_size >= 0 && *settings.target_size != record.target_size;
  return record.target->id != world.target->id || is_other_template || is_other_size;
}

Decision Pass::run() {
  walk();
  if (writes_) emit_writes();
  count_new_pods();
  out_.is_urgent = is_urgent();
  out_.record = std::move(r_);
  return std::move(out_);
}

/// Of the batch that is under way the new pods that are there count, ready or not.
void Pass::count_new_pods() {
  if (!r_.target) return;
  r_.upgraded_ready = new_ready();
  const SetView* seen = view(*r_.target);
  const bool is_rolling = r_.rolling == Rolling::RollingInBatches && r_.batch == BatchState::InRolling;
  if (!is_rolling || seen == nullptr || !seen->is_current || !is_settled() || settings_.shape == Shape::Fields) return;
  const auto [least, most] = std::minmax(goal_before(), goal());
  r_.upgraded = std::clamp(seen->updated, least, most);
}

void Pass::walk() {
  if (r_.position().is_end() && !restarts()) return;
  if (!heeds_orders()) return;
  if (is_held()) {
    r_.batch_started = std::nullopt;
    writes_ = false;
    if (r_.rolling != Rolling::RollingInBatches || ask_throughout() || is_held()) return;
  }
  while (step()) {
  }
}

/// A rollout that is over is begun again only when something else is asked for.
bool Pass::restarts() {
  if (world_.is_deleted) {
    revert_after_end();
    return false;
  }
  if (!is_modified(settings_, r_, world_) && !world_.retries) return false;
  forget_attempt(r_.rolling == Rolling::Failed);
  move(Event::Modified);
  return true;
}

/// What users order in the midst of it: another target, to delete, to abort.
bool Pass::heeds_orders() {
  if (!world_.yields_to.empty() && !yield()) return false;
  if (world_.is_deleted && r_.rolling != Rolling::Deleting) {
    move(Event::Deleted);
    r_.is_reverting = settings_.reverts_on_delete;
    if (r_.is_reverting) reclaim();
    r_.failure = "the rollout was deleted";
    return true;
  }
  if (is_modified(settings_, r_, world_)) {
    move(Event::Modified);
    out_.news.push_back("another target is asked for: this one is abandoned");
    return true;
  }
  const bool is_under_way =
      r_.rolling == Rolling::Initializing || r_.rolling == Rolling::RollingInBatches || r_.rolling == Rolling::Finalising;
  if (world_.is_gone && is_under_way) fail(fmt::format("{} and its revision are gone", r_.target->id));
  if (world_.is_gone && r_.rolling == Rolling::LocatingTarget) fail("the revision that was to be rolled out is gone");
  if (!world_.reverts && !world_.aborts) return true;
  if (is_under_way || r_.rolling == Rolling::LocatingTarget || r_.rolling == Rolling::VerifyingSpec) {
    fail(world_.reverts ? "reverted on request" : "aborted on request");
  }
  if (r_.rolling == Rolling::Failing && world_.reverts) r_.is_reverting = true;
  return !r_.position().is_end();
}

/// Everything is given back as it stands, whatever a failure or a deletion does otherwise. No, when it is over.
bool Pass::yield() {
  if (r_.rolling != Rolling::Failing && r_.rolling != Rolling::Deleting) {
    fail(fmt::format("{} delivers the component now", world_.yields_to));
  }
  r_.is_reverting = false;
  return !r_.position().is_end();
}

bool Pass::is_held() {
  if (r_.rolling == Rolling::Deleting) return false;
  if (settings_.is_paused) return !wait("pause", "spec.paused is true");
  const bool is_ahead = settings_.partition && r_.current_batch > *settings_.partition;
  if (r_.rolling == Rolling::RollingInBatches && is_ahead) {
    return !wait(fmt::format("partition {}", *settings_.partition),
                 fmt::format("batch {} is under way, and only those up to {} may run", r_.current_batch, *settings_.partition));
  }
  return false;
}

bool Pass::step() {
  switch (r_.rolling) {
    case Rolling::LocatingTarget:
      if (!drop_traffic() || !may_begin() || !begin()) return false;
      move(Event::TargetLocated);
      return true;
    case Rolling::VerifyingSpec:
      if (!owners_allow() || !verify_spec()) return false;
      move(Event::SpecVerified);
      return true;
    case Rolling::Initializing:
      if (!owners_allow() || !initialize()) return r_.rolling == Rolling::Failing;
      move(Event::Initialized);
      return true;
    case Rolling::RollingInBatches:
      return step_in_batches() || r_.rolling == Rolling::Failing;
    case Rolling::Finalising:
      if (!wind_up()) return r_.rolling == Rolling::Failing;
      r_.last_applied = r_.target_revision;
      out_.news.push_back(fmt::format("{} is rolled out", r_.target->id));
      move(Event::Finalized);
      return false;
    case Rolling::Failing:
    case Rolling::Deleting:
      if (r_.is_reverting) {
        if (!revert()) return false;
        r_.upgraded = 0;
      }
      if (!drop_surplus() || !wind_up()) return false;
      if (!is_sized() && r_.is_reverting && !world_.target_revision.empty()) {
        r_.target_revision = world_.target_revision;  // the old template is back, which is no new target
      }
      move(Event::Finalized);
      return false;
    case Rolling::Abandoning:
      if (!pass_gates(Moment::Finalize)) return false;
      forget_attempt(true);
      move(Event::Finalized);
      return true;
    case Rolling::Succeeded:
    case Rolling::Failed:
      return false;
  }
  return false;
}

bool Pass::may_begin() { return world_.held_back.empty() || wait("application", world_.held_back); }

bool Pass::step_in_batches() {
  writes_ = true;
  note_planned_start();
  if (!owners_allow() || !follow_outside_resizes()) return false;
  const bool is_waiting = !is_settled();
  if ((is_waiting && !start_is_ahead()) || !ask_throughout() || is_waiting) return false;
  switch (r_.batch) {
    case BatchState::Initializing:
      if (!pass_gates(Moment::BeforeBatch)) return false;
      set_goals(r_.current_batch);
      if (!named_pods_are_there()) return false;
      move(Event::BatchInitialized);
      return true;
    case BatchState::InRolling:
      if (!roll()) return false;
      move(Event::BatchRolled);
      return true;
    case BatchState::Verifying:
      if (!roll() || !verify()) return false;  // T may have moved
      move(Event::BatchAvailable);
      return true;
    case BatchState::Finalizing:
      if (!roll() || !verify() || !pass_gates(Moment::AfterBatch)) return false;
      out_.news.push_back(fmt::format("batch {} is done: {}", r_.current_batch, progress_text()));
      move(is_last() ? Event::AllBatchesFinished : Event::BatchFinished);
      return true;
    case BatchState::Ready:
      if (settings_.partition && r_.current_batch >= *settings_.partition) {
        writes_ = false;
        return wait(fmt::format("partition {}", *settings_.partition), "the batches up to the partition are done");
      }
      move(Event::BatchApproved);
      return true;
    case BatchState::VerifyFailed:
      return false;
  }
  return false;
}

std::string Pass::progress_text() const {
  if (settings_.shape == Shape::Fields) return fmt::format("fields are at {} of {}", r_.upgraded, r_.target_size);
  return fmt::format("{} of {} pods are new", r_.upgraded, r_.target_size);
}

/// What runs already, or has been rolled out before, goes to another size: the batches were made for the size before. They are
/// followed as far as they reach.
bool Pass::is_rescaled() const {
  const bool is_of_own_pods = shape() == Shape::Scale && r_.attempt > 1 && r_.original_size > 0;
  const bool was_rolled_out = !r_.last_applied.empty() && r_.last_applied == r_.target_revision;
  return is_of_own_pods || (is_sized() && was_rolled_out);
}

bool Pass::verify_spec() {
  for (const SetRecord& source : r_.sources) {
    const SetView* seen = view(source);
    // A rolling update of its own keeps pods beside those that are asked for, and may never end.
    if (seen == nullptr || (seen->is_current && seen->present >= seen->desired)) continue;
    return wait(fmt::format("pods of {}", source.id),
                fmt::format("{} is still being reconciled: {} of {} pods are there", source.id, seen->present, seen->desired));
  }
  const std::int64_t from = shape() == Shape::Pair ? 0 : r_.original_size;
  const auto wrong = check_settings(is_rescaled() ? without_numbers(settings_) : settings_, from, r_.target_size);
  if (!wrong.empty()) {
    fail(fmt::format("{}", fmt::join(wrong, "; ")));
    return false;
  }
  set_goals(0);
  return true;
}

bool Pass::initialize() {
  if (!pass_gates(Moment::Initialize)) return false;
  if (settings_.has_traffic) {
    const std::int64_t staying = std::min(new_ready(), r_.target->written), ready = staying + old_ready();
    if (!shift_to(r_.weight.value_or(ready == 0 ? 0 : 100 * staying / ready))) return false;
  }
  writes_ = true;
  for (SetRecord* set : sets()) set->is_claimed = true;
  if (!follow_outside_resizes()) return false;
  return is_settled();
}

void Pass::move(Event event) {
  auto next = after(r_.position(), event);
  SLIPWAY_CHECK(next.has_value());
  if (event == Event::BatchRolled || event == Event::BatchAvailable) r_.upgraded = goal();
  r_.set_position(*next);
  r_.batch_started = std::nullopt;
  if (next->is_end()) out_.waits.clear();
}

void Pass::fail(const std::string& why, Position (*to)(Position)) {
  r_.failure = why;
  r_.is_reverting = settings_.on_failure == OnFailure::Revert || world_.reverts;
  r_.batch_started = std::nullopt;
  r_.is_start_planned = false;
  Position from = r_.position();
  // What an abandoned attempt had claimed is given back.
  const bool has_claims = world_.traffic.held_weight ||
                          std::ranges::any_of(sets(), [](const SetRecord* set) { return set->is_claimed; }) ||
                          std::ranges::any_of(r_.sources, &SetRecord::is_held);
  if (has_claims && from.rolling != Rolling::RollingInBatches) from.rolling = Rolling::Initializing;
  r_.set_position(to(from));
  writes_ = false;
  out_.waits.clear();
  out_.effects.clear();
  out_.news.push_back(fmt::format("fails: {}", why));
}

bool Pass::wait(std::string on, std::string text, std::optional<Time> since) {
  out_.waits.push_back({.on = std::move(on), .text = std::move(text), .since = since});
  return false;
}

void Pass::wake_at(Time at) { out_.wake = out_.wake ? std::min(*out_.wake, at) : at; }

/// Counts of pods, gates that were asked, and states on the way may be lost: they are found again. Before a gate is asked only
/// what came of others must be durable; likewise before a batch shifts the traffic, for no pod goes until the record that says
/// so has the weight too, and until then the same weight is decided on again, or what came before it still holds.
bool Pass::is_urgent() const {
  if (out_.has_dropped_traffic) return true;
  const auto kept = [](Record record) {
    record.upgraded = record.upgraded_ready = 0;
    record.batch_started = record.weight_accepted = std::nullopt;
    std::erase_if(record.gates, [](const GateRecord& gate) { return gate.state == "Asked"; });
    return record;
  };
  const bool is_in_batch = r_.rolling == Rolling::RollingInBatches;
  const auto may_be_repeated = [&](const Effect& effect) {
    return effect.kind == Effect::Kind::Ask || (is_in_batch && effect.kind == Effect::Kind::Shift);
  };
  const bool is_start_decided = r_.is_start_planned && r_.target != old_.target;
  if (r_.rolling == old_.rolling && !is_start_decided && std::ranges::all_of(out_.effects, may_be_repeated)) {
    return !out_.effects.empty() && kept(r_).gates != kept(old_).gates;
  }
  return kept(r_) != kept(old_);
}

}  // namespace slipway::delivery::wave

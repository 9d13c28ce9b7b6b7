#include <fmt/format.h>

#include <algorithm>

#include "delivery/wave/pass.h"

namespace slipway::delivery::wave {

/// Everything as it was before the attempt.
bool Pass::revert() {
  if (!r_.target || !r_.target->is_claimed || r_.target->is_released) return true;
  writes_ = true;
  if (!std::ranges::all_of(sets(), [&](const SetRecord* set) {
        const SetView* seen = view(*set);
        return seen == nullptr || seen->owner != Owner::Other ||
               wait(fmt::format("owner of {}", set->id), fmt::format("{} belongs to {}", set->id, seen->owner_name));
      })) {
    return false;
  }
  switch (shape()) {
    case Shape::Pair:
      return revert_pair();
    case Shape::Scale: {
      const SetView* seen = view(*r_.target);
      if (seen == nullptr) return true;
      if (!follow_outside_resizes()) return false;
      write(*r_.target, *seen, r_.target->original);
      return is_settled();
    }
    case Shape::InPlace:
    case Shape::Replace:
    case Shape::Fields:
      return undo();
  }
  return false;
}

/// Step by step, by the batches backwards: each takes the target's pods of one batch away and brings as many old ones back, in
/// the order of the strategy and within its bounds. Of 4 pods in batches of 2, from the end, with IncreaseFirst:
///   old 0, new 4 → old 2 → new 2 → old 4 → new 0
bool Pass::revert_pair() {
  if (!follow_outside_resizes()) return false;
  std::int64_t wanted = 0;
  for (const SetRecord& source : r_.sources) wanted += view(source) == nullptr ? 0 : source.original;
  SetRecord& target = *r_.target;
  const SetView* seen = view(target);
  if (seen == nullptr || target.written <= target.original) return finish_revert(wanted);
  if (!is_settled() || !counts_are_current()) return false;
  if (wanted == 0 && r_.original_size > 0) return wait("sources", "the sources are gone: there is nothing to go back to");
  if (seen->present > target.written) return wait("pods of " + target.id, "its pods are going");
  const RevertStep step = revert_step();
  const std::int64_t others = r_.target_size - (step.is_old_first ? step.stay : target.written);
  const bool is_last = step.is_old_first && step.stay == target.original;
  const std::int64_t back = is_last ? wanted : std::min(wanted, std::max(source_sum(), others));
  bring_back(back);
  if (!is_settled() || !counts_are_current() || !lower_weight(wanted)) return false;
  if (old_ready() < back) return wait("old pods", fmt::format("{} of {} old pods are ready again", old_ready(), back));
  if (!step.is_old_first && old_ready() > 0 && settings_.has_traffic && r_.weight) {
    const std::int64_t share = step.stay == target.original ? 0 : 100 * step.stay / r_.target_size;
    if (!shift_to(std::min(*r_.weight, share))) return false;
  }
  if ((step.is_old_first || old_ready() > 0) && !is_drained()) return false;
  write(target, *seen, step.stay);
  return false;
}

/// Plans the next step back: the target shrinks to the goal of the batch before. The last pod that has the traffic stays until
/// an old one can take it.
Pass::RevertStep Pass::revert_step() const {
  const std::int64_t have = r_.target->written;
  RevertStep step{.stay = r_.target->original, .is_old_first = settings_.strategy == Strategy::IncreaseFirst};
  for (const std::int64_t goal : r_.goals) {
    if (goal < have) step.stay = std::max(step.stay, goal);
  }
  const bool has_all_traffic = settings_.has_traffic && r_.weight.value_or(0) > 0 && old_ready() == 0;
  if (!step.is_old_first && has_all_traffic && step.stay == 0) {
    step.is_old_first = have == 1;
    step.stay = have == 1 ? 0 : 1;
  }
  return step;
}

/// Scales sources up, newest first (drained last), until together they have `to` pods.
void Pass::bring_back(std::int64_t to) {
  std::int64_t missing = to - source_sum();
  for (auto source = r_.sources.rbegin(); source != r_.sources.rend() && missing > 0; ++source) {
    const SetView* seen = view(*source);
    if (seen == nullptr || source->written >= source->original) continue;
    const std::int64_t comes = std::min(missing, source->original - source->written);
    missing -= comes;
    write(*source, *seen, source->written + comes);
  }
}

/// Restores the original size of every workload once the target has gone back.
bool Pass::finish_revert(std::int64_t wanted) {
  for (SetRecord& source : r_.sources) {
    if (const SetView* seen = view(source)) write(source, *seen, source.original);
  }
  const SetView* target = view(*r_.target);
  if (target == nullptr) return is_settled();
  write(*r_.target, *target, r_.target->original);
  if (!is_settled() || !counts_are_current()) return false;
  if (target->present > r_.target->written) return wait("pods of " + r_.target->id, "its pods are going");
  const bool came_last = settings_.strategy == Strategy::DecreaseFirst && !r_.goals.empty();
  if (!came_last || old_ready() >= wanted) return true;
  return wait("old pods", fmt::format("{} of {} old pods are ready again", old_ready(), wanted));
}

bool Pass::lower_weight(std::int64_t wanted) {
  if (!settings_.has_traffic || !r_.weight) return true;
  const std::int64_t of_old = wanted == 0 ? 100 : 100 * std::min(old_ready(), wanted) / wanted;
  return shift_to(std::min(*r_.weight, 100 - of_old));
}

bool Pass::undo() {
  writes_ = false;  // of sizes
  const SetView* seen = view(*r_.target);
  if (seen == nullptr) return true;
  if (settings_.shape == Shape::Fields && is_pending(*r_.target)) {  // how far they went stands beside them only
    writes_ = true;
    return wait("writes", fmt::format("what was written to {} is not seen yet", r_.target->id));
  }
  const std::int64_t is_left = settings_.shape == Shape::Fields ? seen->asked_new : seen->updated;
  // While the template is the new one, pods that are missing now would come back new.
  const bool has_new_template = seen->can_be_undone && world_.target_revision == r_.target_revision;
  if (is_left == 0 && seen->asked_new == 0 && !has_new_template) {
    return !settings_.has_traffic || !r_.weight || (shift_to(0) && is_drained());
  }
  if (settings_.has_traffic && r_.weight && old_ready() > 0 && !(shift_to(0) && is_drained())) return false;
  out_.effects.push_back({.kind = Effect::Kind::Undo, .set = r_.target->id});
  if (settings_.shape == Shape::Fields) {
    return wait("fields of " + r_.target->id, fmt::format("fields are at {} of {} and go back", is_left, r_.target_size));
  }
  return wait("pods of " + r_.target->id, fmt::format("{} new pods are being undone", is_left));
}

/// Deletes the pods above T that the interrupted batch added: target pods that are not ready first, then such source pods, then
/// ready target pods.
bool Pass::drop_surplus() {
  const bool is_ours = r_.target && r_.target->is_claimed && !r_.target->is_released;
  if (!settings_.leaves_whole || r_.is_reverting || shape() != Shape::Pair || !is_ours) return true;
  writes_ = true;
  if (!follow_outside_resizes()) return false;
  std::int64_t surplus = source_sum() + r_.target->written - r_.target_size;
  const auto drop = [&](SetRecord& set, bool only_unready) {
    const SetView* seen = view(set);
    if (seen == nullptr || surplus <= 0) return;
    const std::int64_t may_go = only_unready ? set.written - std::min(seen->ready, set.written) : set.written;
    const std::int64_t goes = std::min(surplus, may_go);
    surplus -= goes;
    if (goes > 0) write(set, *seen, set.written - goes);
  };
  drop(*r_.target, true);
  for (auto source = r_.sources.rbegin(); source != r_.sources.rend(); ++source) drop(*source, true);
  drop(*r_.target, false);
  return is_settled() || wait("writes", "sizes are being written");
}

/// Hooks of the end, then everything is given back.
bool Pass::wind_up() {
  writes_ = false;
  const bool is_begun = r_.target && r_.target->is_claimed;
  if (is_begun && !pass_gates(Moment::Finalize)) return false;
  const bool has_shifted = (settings_.has_traffic && r_.weight) || world_.traffic.held_weight;
  return has_shifted && !world_.traffic.is_restored ? restore_traffic() : release();
}

/// That it is to be given back is recorded first: a set that is not ours any more is not taken for one seen too early.
bool Pass::release() {
  bool is_done = true;
  const auto give_back = [&](SetRecord& set) {
    const SetView* seen = view(set);
    if (!set.is_claimed) return;
    set.is_released = true;
    if (seen == nullptr || seen->owner != Owner::Us) return;
    out_.effects.push_back({.kind = Effect::Kind::Release, .set = set.id});
    is_done = false;
  };
  std::ranges::for_each(r_.sources, give_back);
  if (r_.target) give_back(*r_.target);
  return is_done || wait("writes", "the workloads are being given back");
}

/// For a new attempt. What the last one left unfinished stays known: its target becomes the newest source, and T stays.
void Pass::forget_attempt(bool keeps_sets) {
  if (!keeps_sets) {
    r_.sources.clear();
    r_.target = std::nullopt;
    r_.target_size = -1;
  } else if (r_.target && world_.target && r_.target->id != world_.target->id) {
    std::erase_if(r_.sources, [&](const SetRecord& set) { return set.id == r_.target->id; });
    r_.sources.push_back(*r_.target);
    r_.target = std::nullopt;
  }
  r_.upgraded = r_.upgraded_ready = 0;
  r_.target_revision.clear();
  r_.goals.clear();
  r_.weight = std::nullopt;
  r_.shifted_batch = -1;
  r_.weight_accepted = r_.batch_started = r_.last_start = std::nullopt;
  r_.is_start_planned = false;
  r_.gates.clear();
  r_.failure.clear();
  r_.is_reverting = false;
  r_.kept_changes.clear();
}

/// What was given back already is needed once more.
void Pass::reclaim() {
  for (SetRecord* set : sets()) {
    const SetView* seen = view(*set);
    if (seen == nullptr || !set->is_released) continue;
    claim(*set, *seen);
    set->is_claimed = true;
  }
}

/// revertOnDelete of a rollout that has failed and was left as it stood.
void Pass::revert_after_end() {
  if (r_.rolling != Rolling::Failed || !settings_.reverts_on_delete || !r_.target || !r_.target->is_claimed) return;
  if (!r_.is_reverting) reclaim();
  r_.is_reverting = true;
  writes_ = true;
  if (revert()) wind_up();
}

}  // namespace slipway::delivery::wave

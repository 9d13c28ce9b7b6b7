#include <fmt/format.h>

#include <algorithm>

#include "delivery/wave/pass.h"

namespace slipway::delivery::wave {

const RollBatch& Pass::batch() const {
  if (settings_.batches.empty()) return settings_.every_batch;
  return settings_.batches[std::min(static_cast<std::size_t>(r_.current_batch), settings_.batches.size() - 1)];
}

std::int64_t Pass::goal_before() const {
  if (r_.current_batch > 0) return r_.goals[std::min(static_cast<std::size_t>(r_.current_batch), r_.goals.size()) - 1];
  return shape() == Shape::Scale ? r_.original_size : 0;
}

std::int64_t Pass::max_unavailable() const {
  const std::int64_t way = shape() == Shape::Scale ? std::abs(r_.target_size - r_.original_size) : r_.target_size;
  return rounded_down(batch().max_unavailable, way);
}

/// Before the batch begins; pods that an attempt before has replaced are not asked for again.
bool Pass::named_pods_are_there() {
  if (r_.target->written >= goal()) return true;
  for (const std::string& pod : batch().sizes.pods) {
    if (std::ranges::find(world_.absent_pods, pod) == world_.absent_pods.end()) continue;
    return wait("podList", fmt::format("batch {} names pod {}, and there is no old pod of that name", r_.current_batch, pod));
  }
  return true;
}

bool Pass::roll() {
  switch (shape()) {
    case Shape::Pair: {
      const bool is_increase = settings_.strategy == Strategy::IncreaseFirst;
      return is_increase ? roll_increase_first() : roll_decrease_first();
    }
    case Shape::InPlace:
    case Shape::Replace:
    case Shape::Fields:
      return roll_in_place();
    case Shape::Scale:
      return roll_scale();
  }
  return false;
}

/// The target grows to the goal, and is ready; the traffic follows; the sources give as many up. A target that has more pods
/// than the goal already keeps them, and so many go.
bool Pass::roll_increase_first() {
  SetRecord& target = *r_.target;
  const std::int64_t total = r_.target_size, least_ready = total - max_unavailable();
  if (target.written < goal()) {
    const std::int64_t most = total - std::min(goal_before(), total);  // T may have shrunk
    if (source_sum() > most && !(is_drained() && drain_sources(most, least_ready))) return false;
    const bool in_steps = batch().instance_interval.count() > 0;
    if (!is_settled()) return false;
    if (in_steps) plan_start();
    write(target, *view(target), in_steps ? target.written + 1 : goal());
  }
  if (!is_settled()) return false;
  const std::int64_t have = std::min(target.written, total);
  if (have < goal()) return false;
  if (!new_pods_ready(std::max(have, goal()))) return false;
  if (!shift_for_batch()) return false;
  const bool do_pods_go = source_sum() > total - have;
  if (do_pods_go && !is_drained()) return false;
  return drain_sources(total - have, least_ready) && is_settled();
}

/// The sources give pods up before the target gets them. With instanceInterval that is done pod by pod.
bool Pass::roll_decrease_first() {
  SetRecord& target = *r_.target;
  const std::int64_t total = r_.target_size;
  const std::int64_t taken = std::max(target.written, total - source_sum());
  std::int64_t next = std::min(total, std::max(target.written, goal()));
  if (batch().instance_interval.count() > 0) next = std::min(next, std::max(target.written + 1, taken));
  if (source_sum() > total - next) {
    if (!new_pods_ready(goal_before()) || !shift_early(next)) return false;
    const std::int64_t least_ready = total - (next - std::min(next, goal_before())) - max_unavailable();
    if (source_sum() > total - next && !may_start()) return false;
    if (!drain_sources(total - next, least_ready)) return false;
  }
  if (!is_settled() || !counts_are_current()) return false;
  if (sources_present() > total - next) {
    return wait("old pods", fmt::format("{} old pods are left, {} are to stay", sources_present(), total - next));
  }
  if (target.written < next) write(target, *view(target), next);
  return is_settled() && target.written >= goal();
}

/// Old pods become new ones of the same workload.
bool Pass::roll_in_place() {
  SetRecord& set = *r_.target;
  const SetView& seen = *view(set);
  // What was decided on before the process died comes first.
  if (!is_settled() || !old_pods_are_removed()) return false;
  std::int64_t next = std::max(set.written, goal());
  const bool in_steps = batch().instance_interval.count() > 0;
  if (set.written < next) {
    if (settings_.shape != Shape::Fields && !shift_early(next)) return false;
    if (in_steps && next > set.written) next = set.written + 1;
    if (next > set.written) {
      if (settings_.shape == Shape::Replace) {
        if (!may_start()) return false;
        set.written = next;
      } else {
        if (in_steps) plan_start();
        write(set, seen, next);
      }
    }
  }
  return old_pods_are_removed() && is_settled() && set.written >= goal();
}

/// Replace: no more of them are left than are to stay.
bool Pass::old_pods_are_removed() {
  const SetRecord& set = *r_.target;
  const SetView& seen = *view(set);
  const auto old_pods = static_cast<std::int64_t>(seen.old_pods.size()), stay = r_.target_size - set.written;
  if (settings_.shape != Shape::Replace || old_pods <= stay) return true;
  Effect remove{.kind = Effect::Kind::Remove, .set = set.id};
  const auto& named = batch().sizes.pods;
  const auto is_named = [&](const std::string& pod) { return std::ranges::find(named, pod) != named.end(); };
  std::ranges::copy_if(seen.old_pods, std::back_inserter(remove.pods), is_named);
  std::ranges::copy_if(seen.old_pods, std::back_inserter(remove.pods), std::not_fn(is_named));
  remove.pods.resize(static_cast<std::size_t>(old_pods - stay));
  out_.effects.push_back(std::move(remove));
  return wait("old pods", fmt::format("{} old pods are left, {} are to stay", old_pods, stay));
}

bool Pass::roll_scale() {
  SetRecord& target = *r_.target;
  std::int64_t next = goal();
  const bool in_steps = batch().instance_interval.count() > 0;
  if (target.written != next) {
    if (in_steps && !may_start()) return false;
    if (in_steps) next = target.written + (next > target.written ? 1 : -1);
    write(target, *view(target), next);
  }
  return is_settled() && target.written == goal();
}

/// Where old pods go before new ones come, the traffic leaves them first, if new pods are there to take it. Where there are
/// none, and all old pods would go, one stays until the others are replaced: `next` is lowered.
bool Pass::shift_early(std::int64_t& next) {
  if (!settings_.has_traffic) return true;
  if (!counts_are_current()) return false;
  if (new_ready() > 0) return shift_for_batch() && is_drained();
  if (next < r_.target_size || r_.target_size < 2) return true;
  next = r_.target_size - 1;
  if (r_.target->written < next) return true;
  return wait("pods of " + r_.target->id, "no new pod is ready to take the traffic of the last old one");
}

/// instanceInterval: one replacement starts that long after the one before.
bool Pass::may_start() {
  const Duration interval = batch().instance_interval;
  if (interval.count() > 0 && r_.last_start && world_.now.time() < later(*r_.last_start, interval)) {
    wake_at(later(*r_.last_start, interval));
    return wait("instanceInterval", "the next replacement may not start yet", r_.last_start);
  }
  if (interval.count() > 0) r_.last_start = world_.now;
  return true;
}

/// The next replacement is decided on with what went before it, so that one write of the record does for both; emit_writes()
/// leaves it until the interval has passed.
void Pass::plan_start() {
  r_.is_start_planned = r_.last_start.has_value();
  if (!r_.last_start) r_.last_start = world_.now;
}

/// It begins when what was decided on is written; what is seen after a crash counts as written just now.
void Pass::note_planned_start() {
  if (!r_.is_start_planned || !is_settled()) return;
  r_.is_start_planned = false;
  r_.last_start = world_.now;
}

bool Pass::start_is_ahead() const {
  const bool is_planned = r_.rolling == Rolling::RollingInBatches && r_.is_start_planned && r_.last_start;
  return is_planned && world_.now.time() < later(*r_.last_start, batch().instance_interval);
}

bool Pass::starts_later() {
  if (!start_is_ahead()) return false;
  wake_at(later(*r_.last_start, batch().instance_interval));
  wait("instanceInterval", "the next replacement may not start yet", r_.last_start);
  return true;
}

bool Pass::verify() {
  if (!is_settled()) return false;
  if (shape() == Shape::Fields) return shift_for_batch();
  if (shape() == Shape::Scale && r_.target_size < r_.original_size) {
    if (!counts_are_current()) return false;
    const SetView& seen = *view(*r_.target);
    const std::int64_t left = std::max(seen.ready, seen.present);
    return left <= goal() || wait("old pods", fmt::format("{} pods are left, {} are to stay", left, goal()));
  }
  if (!new_pods_ready(goal())) return false;
  if (shape() == Shape::Pair) {
    const std::int64_t stay = r_.target_size - std::min(r_.target->written, r_.target_size);
    if (sources_left() > stay) {
      return wait("old pods", fmt::format("{} old pods are left, {} are to stay", sources_left(), stay));
    }
  }
  return shape() == Shape::Scale || shift_for_batch();
}

/// Of `wanted` new pods all but maxUnavailable are ready. They may take batchDeadline.
bool Pass::new_pods_ready(std::int64_t wanted) {
  const SetView& seen = *view(*r_.target);
  if (counts_are_current() && new_ready() + max_unavailable() >= wanted) {
    r_.batch_started = std::nullopt;
    return true;
  }
  if (!r_.batch_started) r_.batch_started = world_.now;
  std::string text = ready_text(wanted);
  if (!seen.trouble.empty()) text += "; " + seen.trouble;
  const Time deadline = later(*r_.batch_started, settings_.batch_deadline);
  if (world_.now.time() >= deadline) {
    fail(fmt::format("batch {} took too long: {}", r_.current_batch, text), batch_failing);
    return false;
  }
  wake_at(deadline);
  return wait("pods of " + r_.target->id, std::move(text), r_.batch_started);
}

std::string Pass::ready_text(std::int64_t wanted) const {
  return fmt::format("{} of {} new pods are ready", new_ready(), wanted);
}

}  // namespace slipway::delivery::wave

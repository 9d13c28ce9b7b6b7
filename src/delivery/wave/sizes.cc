#include <fmt/format.h>

#include <algorithm>

#include "delivery/wave/pass.h"

namespace slipway::delivery::wave {
namespace {

/// The size that stands on an object unless another writer has changed it: what was written, or what was there before that.
std::int64_t own_size(const SetRecord& set, const SetView& view) {
  if (!set.is_claimed || set.is_released) return set.written;
  return view.owner == Owner::Us && view.stamp == set.stamp ? view.stamped : set.before;
}

/// Older than the last write that was seen, or newer than the record. Before the claim an object has other stamps, or none.
bool is_stale(const SetRecord& set, const SetView& view) {
  if (view.owner != Owner::Us) return set.stamp != set.claim;
  return view.stamp != set.stamp && view.stamp != set.stamp - 1;
}

}  // namespace

bool Pass::begin() {
  if (!world_.target || world_.target->uid.empty()) {
    return wait("target", fmt::format("{} cannot be found", world_.target_id.empty() ? "the target" : world_.target_id));
  }
  const SetView& target = *world_.target;
  const bool is_continued = r_.target_size >= 0;
  std::int64_t drift = 0;  // what others did to the sizes since the attempt before
  const auto add_drift = [&](const SetRecord& set) {
    const SetView* seen = view(set);
    if (seen == nullptr) return true;
    if (set.is_claimed && !set.is_released && is_stale(set, *seen)) return false;
    drift += seen->desired - own_size(set, *seen);
    return true;
  };
  if (!std::ranges::all_of(r_.sources, add_drift) || (r_.target && !add_drift(*r_.target))) {
    return wait("cache", "what is seen is older than what was written");
  }
  // An attempt at the same target goes on where the failed one stopped; a revert undoes both.
  const bool is_retry = shape() == Shape::Pair && is_continued && r_.target && r_.target->id == target.id;
  std::vector<SetRecord> sources;
  const auto take = [&](const SetView& seen) {
    const bool is_taken = std::ranges::any_of(sources, [&](const SetRecord& set) { return set.id == seen.id; });
    if (seen.uid.empty() || seen.id == target.id || is_taken) return;
    SetRecord made = begun(seen, seen.desired);
    const auto known = std::ranges::find(r_.sources, seen.id, &SetRecord::id);
    if (is_retry && known != r_.sources.end()) made.original = known->original;
    sources.push_back(std::move(made));
  };
  for (const SetRecord& set : r_.sources) {
    if (const SetView* seen = view(set)) take(*seen);
  }
  for (const SetView& seen : world_.sources) take(seen);
  SetRecord own = begun(target, is_sized() ? target.desired : target.updated);
  if (is_retry) own.original = r_.target->original;
  r_.sources = std::move(sources);
  r_.target = std::move(own);
  const std::int64_t sum = source_sum();
  r_.original_size = shape() == Shape::Pair ? sum : target.desired;
  const std::int64_t as_before = is_continued ? std::max<std::int64_t>(0, r_.target_size + drift) : r_.original_size;
  const std::int64_t at_first = is_sized() ? settings_.first_size.value_or(as_before) : target.desired;
  r_.target_size = settings_.target_size.value_or(at_first);
  r_.target_revision = world_.target_revision;
  ++r_.attempt;
  set_first_sizes(is_continued);
  return true;
}

/// A pair begins with T pods: too few are added to the target, too many taken from it (it was given pods by others), then
/// from the sources. In an attempt that follows another one the target keeps its pods, and too many are those that the batch
/// that was cut short had added to its target, which is the newest source now.
void Pass::set_first_sizes(bool is_continued) {
  if (shape() != Shape::Pair) return;
  const std::int64_t total = r_.target_size, sum = source_sum();
  const SetView& target = *world_.target;
  const std::int64_t wanted = std::max<std::int64_t>(0, total - sum);
  if (!is_continued || target.desired < wanted) write(*r_.target, target, wanted);
  if (!is_continued) {
    // Where another delivery was cut short, its pods may not be ready yet: they go before those that serve.
    const std::int64_t left = take_from_sources(sum - total, 0);
    take_from_sources(left, left);
    return;
  }
  std::int64_t surplus = std::max<std::int64_t>(0, sum - total);
  for (auto source = r_.sources.rbegin(); source != r_.sources.rend() && surplus > 0; ++source) {
    const std::int64_t goes = std::min(surplus, source->written);
    write(*source, *view(*source), source->written - goes);
    surplus -= goes;
  }
}

bool Pass::owners_allow() {
  for (const SetRecord* set : sets()) {
    const SetView* seen = view(*set);
    if (seen == nullptr || seen->owner != Owner::Other) continue;
    return wait(fmt::format("owner of {}", set->id), fmt::format("{} belongs to {}", set->id, seen->owner_name));
  }
  if (r_.target && view(*r_.target) != nullptr) return true;
  return wait("target", fmt::format("{} cannot be found", r_.target ? r_.target->id : "the target"));
}

/// Sizes that others have set: T follows them, or where it is given, they are put back once. No, when it cannot be told yet, or
/// must be settled by people.
bool Pass::follow_outside_resizes() {
  if (!is_sized()) return follow_size_in_place();
  for (SetRecord* set : sets()) {
    const SetView* seen = view(*set);
    if (seen == nullptr) continue;
    if (is_stale(*set, *seen)) return wait("cache", fmt::format("what is seen of {} is older than what was written", set->id));
    const std::int64_t diff = seen->desired - own_size(*set, *seen);
    if (diff != 0 && !follow_resize(*set, *seen, diff)) return false;
  }
  return true;
}

bool Pass::follow_resize(SetRecord& set, const SetView& seen, std::int64_t diff) {
  const bool is_source = &set != &*r_.target;
  if (r_.failure.empty() && settings_.target_size) return contest(set, seen);
  const std::string who = seen.resized_by.empty() ? "others" : seen.resized_by;
  out_.news.push_back(fmt::format("{} was resized by {}: {:+} pods", set.id, who, diff));
  write(set, seen, seen.desired);
  if (is_source) {
    set.original = std::max<std::int64_t>(0, set.original + diff);
    std::erase_if(r_.kept_changes, [&](const std::string& change) { return change.starts_with(set.id + " "); });
    r_.kept_changes.push_back(fmt::format("{} was resized by {} to {}", set.id, who, seen.desired));
  }
  if (r_.failure.empty()) {
    r_.target_size = std::max(r_.target_size + diff, shape() == Shape::Pair ? r_.target->written : std::int64_t{0});
    set_goals(r_.current_batch + (r_.batch == BatchState::Initializing ? 0 : 1));
  }
  return true;
}

/// In place T is the workload's size; of pods that we replace, the number of nodes.
bool Pass::follow_size_in_place() {
  SetRecord& set = *r_.target;
  const SetView& seen = *view(set);
  if (is_stale(set, seen)) return wait("cache", fmt::format("what is seen of {} is older than what was written", set.id));
  const bool is_replace = settings_.shape == Shape::Replace;
  if (settings_.shape == Shape::Fields || seen.desired == r_.target_size) return true;
  if (is_replace && !seen.is_current) return true;
  if (settings_.target_size && !is_replace) {
    const bool is_being_put_back = seen.stamp != set.stamp;
    return is_being_put_back || contest(set, seen);
  }
  r_.target_size = seen.desired;
  set.written = std::min(set.written, r_.target_size);
  if (seen.stamp == set.stamp && set.is_claimed && !is_replace) ++set.stamp;  // its partition counts from the other end
  set_goals(r_.current_batch + (r_.batch == BatchState::Initializing ? 0 : 1));
  return true;
}

bool Pass::contest(SetRecord& set, const SetView& seen) {
  if (set.put_back > 0) {
    writes_ = false;
    const std::string who = seen.resized_by.empty() ? "somebody else" : seen.resized_by;
    return wait("SizeContested",
                fmt::format("{} has set {} to {} pods again, though targetSize is given", who, set.id, seen.desired));
  }
  ++set.put_back;
  if (is_sized()) {
    write(set, seen, set.written);
  } else {
    ++set.stamp;
  }
  return true;
}

void Pass::emit_writes() {
  const bool is_too_early = starts_later();
  for (const SetRecord* set : sets()) {
    if (!is_pending(*set) || (is_too_early && set == &*r_.target)) continue;
    const SetView& seen = *view(*set);
    const bool is_put_back = settings_.shape == Shape::InPlace && settings_.target_size && seen.desired != r_.target_size;
    Effect effect{.kind = is_sized() || is_put_back ? Effect::Kind::Resize : Effect::Kind::Renew,
                  .set = set->id,
                  .number = is_put_back ? r_.target_size : set->written,
                  .stamp = set->stamp};
    if (seen.owner != Owner::Us) effect.kind = Effect::Kind::Claim, effect.number = set->written;
    const bool is_shrunk_source = is_sized() && set != &*r_.target && set->written < seen.desired;
    if (r_.rolling == Rolling::RollingInBatches && (is_shrunk_source || effect.kind == Effect::Kind::Renew)) {
      effect.pods = batch().sizes.pods;
    }
    out_.effects.push_back(std::move(effect));
  }
  if (!out_.effects.empty() && out_.waits.empty()) wait_for_writes();
}

std::string Pass::kind_of_writes() const {
  return settings_.shape == Shape::Fields ? "fields are being written" : "sizes are being written";
}

/// A write of the record says already what will be waited for once the sizes stand: it need not be told again.
void Pass::wait_for_writes() {
  const SetRecord& target = *r_.target;
  const bool is_growing = r_.rolling == Rolling::RollingInBatches && shape() == Shape::Pair && is_pending(target) &&
                          r_.batch == BatchState::InRolling && new_ready() + max_unavailable() < goal();
  if (!is_growing) {
    wait("writes", kind_of_writes());
    return;
  }
  if (!r_.batch_started) r_.batch_started = world_.now;
  wait("pods of " + target.id, ready_text(std::max(std::min(target.written, r_.target_size), goal())), r_.batch_started);
}

bool Pass::counts_are_current() {
  for (const SetRecord* set : sets()) {
    const SetView* seen = view(*set);
    if (seen != nullptr && !seen->is_current) return wait(fmt::format("status of {}", set->id), "it is older than the spec");
  }
  return true;
}

/// Until `to` are left together: the oldest first, and of each what is not ready before what is, as workloads do it. Of those
/// that are ready no more go than leave `least_ready` pods ready in all; then it is not done.
bool Pass::drain_sources(std::int64_t to, std::int64_t least_ready) {
  const std::int64_t spare = std::max<std::int64_t>(0, new_ready() + old_ready() - least_ready);
  const std::int64_t left = take_from_sources(source_sum() - to, spare);
  return left <= 0 || wait("old pods", fmt::format("{} more may go when others are ready", left));
}

/// Oldest first: pods that are not ready, and at most `spare` of those that are. How many of the surplus are left.
std::int64_t Pass::take_from_sources(std::int64_t surplus, std::int64_t spare) {
  for (SetRecord& source : r_.sources) {
    const SetView* seen = view(source);
    if (seen == nullptr || surplus <= 0 || source.written == 0) continue;
    const std::int64_t not_ready = std::max<std::int64_t>(0, source.written - seen->ready);
    const std::int64_t goes = std::min({surplus, source.written, not_ready + spare});
    spare -= std::max<std::int64_t>(0, goes - not_ready);
    surplus -= goes;
    if (goes > 0) write(source, *seen, source.written - goes);
  }
  return surplus;
}

std::int64_t Pass::batch_count() const {
  return settings_.batches.empty() ? settings_.num_batches.value_or(1) : static_cast<std::int64_t>(settings_.batches.size());
}

std::vector<Batch> Pass::sizes() const {
  const std::int64_t from = shape() == Shape::Scale ? r_.original_size : 0;
  if (settings_.batches.empty()) return equal_batches(std::abs(r_.target_size - from), batch_count());
  std::vector<Batch> all;
  all.reserve(settings_.batches.size());
  for (const RollBatch& batch : settings_.batches) all.push_back(batch.sizes);
  return all;
}

/// Goals by the plan as it is now. Those of batches that have begun stay, as far as T and what others left of the target allow;
/// that of the one that runs is not below what is new already.
void Pass::set_goals(std::int64_t begun_batches) {
  const bool is_scale = shape() == Shape::Scale;
  const std::vector<std::int64_t> old = std::move(r_.goals);
  r_.goals = goals(sizes(), is_scale ? r_.original_size : 0, r_.target_size);
  if (is_scale) return;
  std::int64_t least = 0;
  const std::int64_t have = r_.target->written;
  for (std::size_t i = 0; i < r_.goals.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const bool has_begun = index < begun_batches && i < old.size() && i + 1 < r_.goals.size();
    if (has_begun) r_.goals[i] = index < r_.current_batch ? std::min(old[i], have) : std::max(old[i], have);
    r_.goals[i] = least = std::clamp(r_.goals[i], std::min(least, r_.target_size), r_.target_size);
  }
  if (old.size() == r_.goals.size()) r_.upgraded = std::min(r_.upgraded, goal());
}

}  // namespace slipway::delivery::wave

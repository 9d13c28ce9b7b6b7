#include "delivery/wave/sets.h"

#include <algorithm>

namespace slipway::delivery::wave {

/// A pair that has nothing to take pods from is a scale.
Shape Sets::shape() const {
  const bool has_sources =
      std::ranges::any_of(r_.sources, [](const SetRecord& set) { return set.original > 0 || set.is_claimed; });
  return settings_.shape == Shape::Pair && !has_sources ? Shape::Scale : settings_.shape;
}

const SetView* Sets::view(const SetRecord& set) const {
  const auto fits = [&](const SetView& seen) { return seen.id == set.id && !seen.uid.empty() && seen.uid == set.uid; };
  if (world_.target && fits(*world_.target)) return &*world_.target;
  const auto found = std::ranges::find_if(world_.sources, fits);
  return found == world_.sources.end() ? nullptr : &*found;
}

std::vector<SetRecord*> Sets::sets() {
  std::vector<SetRecord*> all;
  if (shape() == Shape::Pair) {
    for (SetRecord& source : r_.sources) all.push_back(&source);
  }
  if (r_.target) all.push_back(&*r_.target);
  return all;
}

/// The record of a set at the beginning of an attempt, which is to have `size` pods first. Stamps go on from the attempt
/// before, and so does what is ours still.
SetRecord Sets::begun(const SetView& seen, std::int64_t size) const {
  SetRecord set{.id = seen.id, .uid = seen.uid};
  const auto is_known = [&](const SetRecord& other) { return other.id == seen.id && other.uid == seen.uid; };
  if (const auto source = std::ranges::find_if(r_.sources, is_known); source != r_.sources.end()) {
    set = *source;
  } else if (r_.target && is_known(*r_.target)) {
    set = *r_.target;
  }
  if (set.is_released || !set.is_claimed) claim(set, seen);
  set.put_back = 0;
  set.original = seen.desired;
  write(set, seen, size);
  return set;
}

/// To be claimed (again).
void Sets::claim(SetRecord& set, const SetView& seen) {
  set.stamp = set.claim = std::max(set.stamp, seen.stamp) + 1;
  set.written = set.before = seen.desired;
  set.is_claimed = seen.owner == Owner::Us;  // by an attempt whose record is lost
  set.is_released = false;
}

/// Its size is written, not how many of its pods are new.
bool Sets::is_sized() const { return settings_.shape == Shape::Pair || settings_.shape == Shape::Scale; }

/// Decides on a number. A stamp counts once it stands on the object; until then the next number takes its place.
void Sets::write(SetRecord& set, const SetView& seen, std::int64_t number) const {
  const bool has_landed = seen.owner == Owner::Us && seen.stamp == set.stamp;
  const bool stands = seen.stamped == number && (!is_sized() || seen.desired == number);
  if (has_landed && number == set.written && stands) return;
  if (has_landed) ++set.stamp;
  set.before = seen.desired;
  set.written = number;
}

bool Sets::is_pending(const SetRecord& set) const {
  const SetView* seen = view(set);
  if (seen == nullptr || !set.is_claimed || set.is_released || settings_.shape == Shape::Replace) {
    return seen != nullptr && set.is_claimed && !set.is_released && seen->owner != Owner::Us;
  }
  return seen->owner != Owner::Us || seen->stamp != set.stamp || (is_sized() && seen->stamped != set.written);
}

bool Sets::is_settled() {
  return std::ranges::none_of(sets(), [&](const SetRecord* set) { return is_pending(*set); });
}

std::int64_t Sets::source_sum() const {
  std::int64_t sum = 0;
  for (const SetRecord& source : r_.sources) sum += view(source) == nullptr ? 0 : source.written;
  return sum;
}

std::int64_t Sets::sources_present() const {
  std::int64_t sum = 0;
  for (const SetRecord& source : r_.sources) {
    if (const SetView* seen = view(source)) sum += seen->present;
  }
  return sum;
}

std::int64_t Sets::sources_left() const {
  std::int64_t sum = 0;
  for (const SetRecord& source : r_.sources) {
    if (const SetView* seen = view(source)) sum += std::min(seen->present, std::max(seen->desired, seen->ready));
  }
  return sum;
}

std::int64_t Sets::new_ready() const {
  const SetView* seen = r_.target ? view(*r_.target) : nullptr;
  if (seen == nullptr) return 0;
  return is_sized() ? seen->ready : seen->updated_ready;
}

std::int64_t Sets::old_ready() const {
  if (settings_.shape == Shape::InPlace || settings_.shape == Shape::Replace) {
    const SetView* seen = r_.target ? view(*r_.target) : nullptr;
    return seen == nullptr ? 0 : seen->ready - seen->updated_ready;
  }
  std::int64_t sum = 0;
  for (const SetRecord& source : r_.sources) {
    if (const SetView* seen = view(source)) sum += seen->ready;
  }
  return sum;
}

}  // namespace slipway::delivery::wave

#include "delivery/pipeline/follower_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kLeastSlots = 16;

}  // namespace

void FollowerTable::add(Interest interest, Follower follower) {
  SLIPWAY_CHECK(follower < kMost, "too many followers");
  make_room();
  put(interest, follower + 1);
}

void FollowerTable::put(Interest interest, std::uint32_t use) {
  std::size_t at = home_of(interest);
  while (slots_[at].is_taken()) at = next(at);
  used_ += slots_[at].use == kFree ? 1 : 0;
  slots_[at] = {interest, use};
  ++live_;
}

/// Room for half as many again as there are, without what was left.
void FollowerTable::make_room() {
  if ((used_ + 1) * 5 <= slots_.size() * 4) return;
  std::vector<Slot> before(std::max(kLeastSlots, live_ * 3 / 2 + 2));
  std::swap(before, slots_);
  live_ = used_ = 0;
  for (const Slot& slot : before) {
    if (slot.is_taken()) put(slot.interest, slot.use);
  }
}

void FollowerTable::remove(Interest interest, Follower follower) {
  if (slots_.empty()) return;
  for (std::size_t at = home_of(interest); slots_[at].use != kFree; at = next(at)) {
    if (slots_[at].interest != interest || slots_[at].use != follower + 1) continue;
    slots_[at] = {0, kLeft};
    --live_;
    return;
  }
}

std::vector<FollowerTable::Follower> FollowerTable::find(Interest interest) const {
  std::vector<Follower> found;
  if (slots_.empty()) return found;
  for (std::size_t at = home_of(interest); slots_[at].use != kFree; at = next(at)) {
    if (slots_[at].is_taken() && slots_[at].interest == interest) found.push_back(slots_[at].use - 1);
  }
  return found;
}

}  // namespace slipway::delivery::pipeline

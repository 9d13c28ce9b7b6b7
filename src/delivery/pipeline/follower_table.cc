#include "delivery/pipeline/follower_table.h"

#include <algorithm>
#include <utility>

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kLeastSlots = 16;
constexpr std::uint64_t kLeft = 1;

}  // namespace

void FollowerTable::add(std::uint64_t interest, Follower& follower) {
  make_room();
  put(interest, &follower);
}

void FollowerTable::put(std::uint64_t interest, Follower* follower) {
  std::size_t at = home_of(interest);
  while (slots_[at].use() == Use::Taken) at = next(at);
  used_ += slots_[at].use() == Use::Free ? 1 : 0;
  slots_[at] = {interest, follower};
  ++live_;
}

/// Twice the room when more than half of it is in use, else the same without what was left.
void FollowerTable::make_room() {
  if ((used_ + 1) * 4 <= slots_.size() * 3) return;
  const bool is_full = live_ * 2 >= slots_.size();
  std::vector<Slot> before(std::max(kLeastSlots, is_full ? slots_.size() * 2 : slots_.size()));
  std::swap(before, slots_);
  live_ = used_ = 0;
  for (const Slot& slot : before) {
    if (slot.use() == Use::Taken) put(slot.interest, slot.follower);
  }
}

void FollowerTable::remove(std::uint64_t interest, const Follower& follower) {
  if (slots_.empty()) return;
  for (std::size_t at = home_of(interest); slots_[at].use() != Use::Free; at = next(at)) {
    if (slots_[at].interest != interest || slots_[at].follower != &follower) continue;
    slots_[at] = {kLeft, nullptr};
    --live_;
    return;
  }
}

std::vector<Follower*> FollowerTable::find(std::uint64_t interest) const {
  std::vector<Follower*> found;
  if (slots_.empty()) return found;
  for (std::size_t at = home_of(interest); slots_[at].use() != Use::Free; at = next(at)) {
    if (slots_[at].use() == Use::Taken && slots_[at].interest == interest) found.push_back(slots_[at].follower);
  }
  return found;
}

}  // namespace slipway::delivery::pipeline

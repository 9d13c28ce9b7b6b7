// Who is woken by what: followers by interest (interest.h), some half a million pairs for a hundred thousand targets. Open
// addressing with linear probing, at most four fifths full: some 11 bytes for a pair where a multimap takes 64. An interest may
// be there many times, with other followers or the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "delivery/pipeline/interest.h"

namespace slipway::delivery::pipeline {

class FollowerTable {
 public:
  /// Which one, as TargetCache counts them; below kMost.
  using Follower = std::uint32_t;
  static constexpr Follower kMost = 0xFFFFFFFEU;

  void add(Interest interest, Follower follower);
  /// Of equal pairs one. Without effect when there is none.
  void remove(Interest interest, Follower follower);
  /// In no order.
  std::vector<Follower> find(Interest interest) const;
  std::size_t size() const { return live_; }
  /// For tests and measurements.
  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kLeft = 0xFFFFFFFFU;  // taken once: probing goes on behind it
  struct Slot {
    Interest interest = 0;
    std::uint32_t use = kFree;  // else the follower's number and 1
    bool is_taken() const { return use != kFree && use != kLeft; }
  };

  std::size_t home_of(Interest interest) const { return std::uint64_t{interest} * slots_.size() >> 32U; }
  std::size_t next(std::size_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }
  void make_room();
  void put(Interest interest, std::uint32_t use);

  std::vector<Slot> slots_{};
  std::size_t live_ = 0;
  std::size_t used_ = 0;  // and left
};

}  // namespace slipway::delivery::pipeline

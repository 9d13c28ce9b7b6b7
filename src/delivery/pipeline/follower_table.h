// Who is woken by what: followers by interest (interest.h), some half a million pairs for a hundred thousand targets. Open
// addressing with linear probing, at most three quarters full: 16 bytes for a pair where a multimap takes 64. An interest may
// be there many times, with other followers or the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slipway::delivery::pipeline {

struct Follower;

class FollowerTable {
 public:
  void add(std::uint64_t interest, Follower& follower);
  /// Of equal pairs one. Without effect when there is none.
  void remove(std::uint64_t interest, const Follower& follower);
  /// In no order.
  std::vector<Follower*> find(std::uint64_t interest) const;
  std::size_t size() const { return live_; }
  /// For tests and measurements.
  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  enum class Use : std::uint8_t { Free, Taken, Left };  // Left: taken once, probing goes on behind it
  struct Slot {
    std::uint64_t interest = 0;
    Follower* follower = nullptr;  // null: free, or left when the interest is not 0
    Use use() const {
      if (follower != nullptr) return Use::Taken;
      return interest == 0 ? Use::Free : Use::Left;
    }
  };

  std::size_t home_of(std::uint64_t interest) const { return (interest ^ interest >> 32U) & (slots_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void make_room();
  void put(std::uint64_t interest, Follower* follower);

  std::vector<Slot> slots_{};  // a power of two
  std::size_t live_ = 0;
  std::size_t used_ = 0;  // and left
};

}  // namespace slipway::delivery::pipeline

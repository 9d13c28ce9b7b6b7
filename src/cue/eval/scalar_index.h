// The disjuncts of a disjunction of scalars and of sets of them, so that those a scalar may be equal to are found without
// going through all: an enumeration may have ten thousand words.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cue/eval/vertex.h"

namespace slipway::cue {

/// Positions by value. Looked up only, never gone through.
class ScalarIndex {
 public:
  /// REQUIRES: positions are added in order.
  void add(const Value& scalar, std::uint32_t position) { positions_[hash(scalar)].push_back(position); }
  /// Positions of all that may be identical, in order.
  const std::vector<std::uint32_t>& like(const Value& scalar) const {
    static const std::vector<std::uint32_t> kNone;
    auto found = positions_.find(hash(scalar));
    return found == positions_.end() ? kNone : found->second;
  }

 private:
  /// Numbers that are the same have the same, however they are written.
  static std::size_t hash(const Value& scalar);

  std::unordered_map<std::size_t, std::vector<std::uint32_t>> positions_;
};

/// One disjunction as a factor of a product; equal disjuncts are one.
struct ScalarFactor {
  struct Part {
    Value value;
    DefaultMode mark;
    std::uint32_t index;  // of the disjunct, as a Choice has it
  };
  std::vector<Part> parts;
  std::vector<std::uint32_t> sets;  // parts that are no scalars
  ScalarIndex scalars;              // the others
  KindMask kinds = 0;
  Value as_value = {};  // what it comes to when nothing else is said; none as long as it was not asked for
};

}  // namespace slipway::cue

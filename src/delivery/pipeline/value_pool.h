// Lets equal parts of many objects lie in memory once. Caches of some hundred clusters hold the same conditions, labels, chart
// versions and references over and over; what differs is names and times. Bounded and forgetful: a table of kSlots recent
// parts, in which a newer part takes the place of another with the same slot, so that a part which comes with nearly every
// object is nearly always found, and one that never comes again costs one slot at most.
#pragma once

#include <array>
#include <cstddef>

#include "json/value.h"

namespace slipway::delivery::pipeline {

class ValuePool {
 public:
  static constexpr std::size_t kSlots = 8192;

  /// An equal value whose parts are those that were seen before, where they are still known.
  json::Value shared(const json::Value& value);

 private:
  json::Value known(json::Value value);

  std::array<json::Value, kSlots> slots_{};
};

}  // namespace slipway::delivery::pipeline

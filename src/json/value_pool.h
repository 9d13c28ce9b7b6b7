// Lets equal parts of many objects lie in memory once: texts, keys, arrays and objects. Caches of some hundred clusters hold
// the same conditions, labels, chart versions and references over and over, and big objects hold rows that are nearly alike;
// what differs is names and times. Bounded and forgetful: a table of kSlots recent parts, in which a newer part takes the place
// of another with the same slot, so that a part which comes with nearly every object is nearly always found, and one that never
// comes again costs one slot at most. A pool that was never used takes no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "json/value.h"

namespace slipway::json {

class ValuePool {
 public:
  static constexpr std::size_t kSlots = 8192;

  /// An equal value, with its members in the same order, whose parts are those that were seen before, where they are still
  /// known. One pass; about as dear as a copy of all of it.
  Value shared(const Value& value);

 private:
  Value shared_text(const Value& text);
  Value shared_array(const Value& array);
  Value shared_object(const Value& object);
  Value& slot(std::size_t hash);

  std::vector<Value> slots_{};
};

}  // namespace slipway::json

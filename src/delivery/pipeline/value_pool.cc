#include "delivery/pipeline/value_pool.h"

#include <functional>
#include <string>

#include "json/text.h"

namespace slipway::delivery::pipeline {

using json::Value;

Value ValuePool::shared(const Value& value) {
  if (value.is_object()) {
    Value made = value;
    for (const auto& [key, member] : value.members()) {
      if (Value part = shared(member); !part.is_same(member)) made = made.with(key, std::move(part));
    }
    return known(std::move(made));
  }
  if (!value.is_array()) return known(value);
  Value made = value;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (Value part = shared(value.item(i)); !part.is_same(value.item(i))) made = made.with_item(i, std::move(part));
  }
  return known(std::move(made));
}

Value ValuePool::known(Value value) {
  if (value.memory_bytes() == 0) return value;
  // The order of members is part of the text: what is printed from a cache does not change with what was seen before.
  const std::string text = json::print(value);
  Value& slot = slots_[std::hash<std::string>{}(text) % kSlots];
  if (slot.type() != value.type() || json::print(slot) != text) slot = std::move(value);
  return slot;
}

}  // namespace slipway::delivery::pipeline

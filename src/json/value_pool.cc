#include "json/value_pool.h"

#include <array>
#include <cstring>
#include <functional>
#include <string_view>

#include "json/layout.h"

namespace slipway::json {
namespace {

std::size_t mixed(std::size_t hash, std::size_t more) {
  return (hash ^ more) * 0x9E3779B97F4A7C15U + (hash << 6U) + (hash >> 2U);
}

/// Of a part that has been shared itself: equal ones have the same node, or lie in the value whole.
std::size_t hash_of_part(const Value& part) {
  std::array<std::uint64_t, 2> words{};
  static_assert(sizeof words == sizeof part);
  std::memcpy(words.data(), static_cast<const void*>(&part), sizeof words);
  return mixed(words[0], words[1]);
}

bool is_same_array(const Value& known, const std::vector<Value>& items) {
  if (!known.is_array() || known.size() != items.size()) return false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!known.item(i).is_same(items[i])) return false;
  }
  return true;
}

/// `pairs`: key, value, key, value …
bool is_same_object(const Value& known, const std::vector<Value>& pairs) {
  if (!known.is_object() || known.size() * 2 != pairs.size()) return false;
  std::size_t i = 0;
  for (const auto& [key, member] : known.members()) {
    if (key != pairs[i].as_string() || !member.is_same(pairs[i + 1])) return false;
    i += 2;
  }
  return true;
}

}  // namespace

Value ValuePool::shared(const Value& value) {
  if (value.is_string()) return shared_text(value);
  if (value.empty()) return value;
  return value.is_array() ? shared_array(value) : shared_object(value);
}

Value& ValuePool::slot(std::size_t hash) {
  if (slots_.empty()) slots_.resize(kSlots);
  return slots_[(hash ^ hash >> 32U) % kSlots];
}

Value ValuePool::shared_text(const Value& text) {
  if (text.memory_bytes() == 0) return text;
  Value& known = slot(std::hash<std::string_view>{}(text.as_string()));
  if (!known.is_string() || known.as_string() != text.as_string()) known = text;
  return known;
}

Value ValuePool::shared_array(const Value& array) {
  std::vector<Value> items;
  items.reserve(array.size());
  std::size_t hash = 1;
  for (const Value& item : array.items()) {
    items.push_back(shared(item));
    hash = mixed(hash, hash_of_part(items.back()));
  }
  Value& known = slot(hash);
  if (!is_same_array(known, items)) known = Layout::array(items);
  return known;
}

Value ValuePool::shared_object(const Value& object) {
  std::vector<Value> pairs = Layout::pairs(object);
  std::size_t hash = 2;
  for (Value& part : pairs) {
    part = shared(part);
    hash = mixed(hash, hash_of_part(part));
  }
  Value& known = slot(hash);
  if (!is_same_object(known, pairs)) known = Layout::object(pairs);
  return known;
}

}  // namespace slipway::json

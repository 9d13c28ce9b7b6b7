#include "json/value.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <new>

#include "base/check.h"
#include "json/layout.h"

namespace slipway::json {

static_assert(sizeof(Value) == 16 && sizeof(Node) == 4);
static_assert(std::endian::native == std::endian::little, "inline text lies at the first byte of the value");

namespace {

constinit const Value kNull{};

// Dead nodes nested deeper than this wait in a list, so that destroying a deep value needs little stack.
constexpr unsigned kDestroyDepth = 64;

}  // namespace

// Making nodes.

std::size_t Layout::node_bytes(Tag tag, std::size_t size) noexcept {
  if (tag < Tag::Array) return sizeof(Node) + size;
  const std::size_t values = header_bytes(tag, size) + size * sizeof(Value);
  if (tag != Tag::Object) return values;
  return values + size * sizeof(Value) + (size >= kIndexedFrom ? size * sizeof(std::uint32_t) : 0);
}

Value Layout::new_node(Tag tag, std::size_t size) {
  SLIPWAY_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
  const auto* node = new (::operator new(node_bytes(tag, size))) Node{.references = 1};
  return Value(reinterpret_cast<std::uint64_t>(node), Value::word(tag) | size);
}

Value Layout::text(Tag inline_tag, Tag node_tag, std::string_view text) {
  if (text.size() > kInlineBytes) {
    Value value = new_node(node_tag, text.size());
    std::memcpy(value.node() + 1, text.data(), text.size());
    return value;
  }
  Value value = short_string(text);
  value.high_ = (value.high_ & ~(std::uint64_t{0xff} << 56)) | Value::word(inline_tag);
  return value;
}

Value Layout::array(std::span<Value> items) {
  if (items.empty()) return Value::empty_array();
  Value made = new_node(Tag::Array, items.size());
  std::uninitialized_move(items.begin(), items.end(), values(made));
  return made;
}

bool Layout::name_all(std::span<const Value> pairs, std::array<std::uint16_t, kMostNamed>& ids) noexcept {
  if (pairs.size() / 2 > kMostNamed) return false;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const auto id = name_id(pairs[i]);
    if (!id) return false;
    ids[i / 2] = *id;
  }
  return true;
}

namespace {

// The number of the first item equal to an earlier one.
template <class Same>
std::optional<std::size_t> first_repeated(std::size_t count, Same same) {
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (same(i, j)) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

Value Layout::object(std::span<Value> pairs, std::optional<std::size_t>* repeated) {
  const std::size_t count = pairs.size() / 2;
  if (count == 0) return Value::empty_object();
  std::array<std::uint16_t, kMostNamed> names;
  const bool named = name_all(pairs, names);
  Value made = new_node(named ? Tag::NamedObject : Tag::Object, count);
  for (std::size_t i = 0; i < count; ++i) new (values(made) + i) Value(std::move(pairs[2 * i + 1]));
  if (named) {
    std::memcpy(ids(made), names.data(), count * sizeof(names[0]));
    if (repeated) *repeated = first_repeated(count, [&](std::size_t a, std::size_t b) { return names[a] == names[b]; });
    return made;
  }
  const Value* all = keys(made);
  for (std::size_t i = 0; i < count; ++i) new (keys(made) + i) Value(std::move(pairs[2 * i]));
  if (count >= kIndexedFrom) {
    auto found = fill_index(made);
    if (repeated) *repeated = found;
  } else if (repeated) {
    *repeated = first_repeated(count, [all](std::size_t a, std::size_t b) { return same_text(all[a], all[b]); });
  }
  return made;
}

std::optional<std::size_t> Layout::fill_index(const Value& object) {
  const Value* all = keys(object);
  std::uint32_t* numbers = index(object);
  const std::uint32_t count = object.length();
  for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i;
  auto less = [all](std::uint32_t left, std::uint32_t right) {
    auto a = all[left].as_string();
    auto b = all[right].as_string();
    return key_less(a, b) || (left < right && a == b);
  };
  std::sort(numbers, numbers + count, less);
  std::optional<std::size_t> repeated;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (!same_text(all[numbers[i - 1]], all[numbers[i]])) continue;
    repeated = std::min<std::size_t>(repeated.value_or(numbers[i]), numbers[i]);
  }
  return repeated;
}

// Destroying nodes.

void Value::destroy(Tag tag, Node* node, std::size_t size) noexcept {
  // Takes dead children of a node apart, itself for some levels, by the list for deeper ones.
  struct Dead {
    Tag tag;
    Node* node;
    std::size_t size;
  };
  struct Reaper {
    std::vector<Dead> later;

    void drop(Value& value, unsigned depth) {
      if (value.is_counted() && value.node()->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const Dead dead{value.tag(), value.node(), value.length()};
        if (depth < kDestroyDepth) {
          reap(dead, depth + 1);
        } else {
          later.push_back(dead);
        }
      }
      value.low_ = value.high_ = 0;
    }
    void reap(const Dead& dead, unsigned depth) {
      if (dead.tag >= Tag::Array) {
        const std::size_t count = dead.tag == Tag::Object ? dead.size * 2 : dead.size;
        auto* first = reinterpret_cast<Value*>(reinterpret_cast<char*>(dead.node) + Layout::header_bytes(dead.tag, dead.size));
        for (std::size_t i = 0; i < count; ++i) drop(first[i], depth);
      }
      ::operator delete(dead.node);
    }
  } reaper;
  reaper.reap({tag, node, size}, 0);
  while (!reaper.later.empty()) {
    const Dead next = reaper.later.back();
    reaper.later.pop_back();
    reaper.reap(next, 0);
  }
}

// Reading.

Value::Value(std::string_view text) {
  if (text.size() <= Layout::kInlineBytes) {
    *this = Layout::short_string(text);
  } else if (auto id = Layout::long_name_id(text)) {
    *this = Layout::static_string(*id);
  } else {
    *this = Layout::text(Tag::ShortString, Tag::LongString, text);
  }
}

bool Value::as_bool(bool fallback) const noexcept { return is_bool() ? low_ != 0 : fallback; }

Value Layout::key(const Value& object, std::size_t member) noexcept {
  if (!is_named(object)) return keys(object)[member];
  const std::uint16_t id = ids(object)[member];
  const std::string_view name = well_known_name(id);
  return name.size() <= kInlineBytes ? short_string(name) : static_string(id);
}

std::size_t Layout::find(const Value& object, std::string_view key) noexcept {
  const std::size_t count = object.size();
  if (count == 0) return count;
  const bool is_short = key.size() <= kInlineBytes;
  if (is_named(object)) {
    const auto words = is_short ? short_words(key) : std::array<std::uint64_t, 2>{};
    const auto id = is_short ? short_name_id(words[0], words[1]) : long_name_id(key);
    const std::uint16_t* all = ids(object);
    return id ? static_cast<std::size_t>(std::find(all, all + count, *id) - all) : count;
  }
  const Value* all = keys(object);
  if (count >= kIndexedFrom) {
    const std::uint32_t* numbers = index(object);
    const auto* at = std::lower_bound(numbers, numbers + count, key, [all](std::uint32_t number, std::string_view wanted) {
      return key_less(all[number].as_string(), wanted);
    });
    return at != numbers + count && all[*at].as_string() == key ? *at : count;
  }
  if (is_short) {
    const Value wanted = short_string(key);
    for (std::size_t i = 0; i < count; ++i) {
      if (all[i].is_same(wanted)) return i;
    }
    return count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].as_string() == key) return i;
  }
  return count;
}

const Value* Value::find(std::string_view key) const noexcept {
  if (!is_object()) return nullptr;
  const std::size_t at = Layout::find(*this, key);
  return at < length() ? &Layout::values(*this)[at] : nullptr;
}

const Value& Value::operator[](std::string_view key) const noexcept {
  const Value* found = find(key);
  return found ? *found : kNull;
}

const Value& Value::item(std::size_t index) const noexcept {
  return is_array() && index < length() ? Layout::values(*this)[index] : kNull;
}

Members Value::members() const noexcept {
  Members result;
  if (!is_object() || length() == 0) return result;
  result.first_.values_ = Layout::values(*this);
  if (Layout::is_named(*this)) {
    result.first_.ids_ = Layout::ids(*this);
  } else {
    result.first_.keys_ = Layout::keys(*this);
  }
  result.size_ = length();
  return result;
}

std::span<const Value> Value::items() const noexcept {
  if (!is_array() || length() == 0) return {};
  return {Layout::values(*this), length()};
}

// Comparing and measuring.

bool Layout::same_text(const Value& left, const Value& right) noexcept {
  if (left.is_same(right)) return true;
  if (left.tag() == Value::Tag::ShortString || right.tag() == Value::Tag::ShortString) return false;
  return left.as_string() == right.as_string();
}

bool Layout::equal_objects(const Value& left, const Value& right) noexcept {
  const std::size_t count = left.size();
  if (count != right.size() || is_named(left) != is_named(right)) return false;
  if (count == 0) return true;
  const Value* a = values(left);
  const Value* b = values(right);
  for (std::size_t i = 0; i < count; ++i) {
    const bool in_place = is_named(left) ? ids(left)[i] == ids(right)[i] : same_text(keys(left)[i], keys(right)[i]);
    const std::size_t at = in_place ? i : find(right, key(left, i).as_string());
    if (at == count || !(a[i] == b[at])) return false;
  }
  return true;
}

bool Value::operator==(const Value& other) const noexcept {
  if (is_same(other)) return true;
  if (is_number() && other.is_number()) return Layout::equal_numbers(*this, other);
  if (type() != other.type()) return false;
  if (is_string()) return Layout::same_text(*this, other);
  if (is_array()) return std::ranges::equal(items(), other.items());
  return is_object() && Layout::equal_objects(*this, other);
}

std::size_t Value::memory_bytes() const noexcept {
  if (!is_counted()) return 0;
  // glibc: eight bytes before the block, rounded up to sixteen, at least 32.
  std::size_t total = std::max<std::size_t>(32, (Layout::node_bytes(tag(), length()) + 8 + 15) & ~std::size_t{15});
  if (tag() < Tag::Array) return total;
  const std::size_t count = tag() == Tag::Object ? std::size_t{length()} * 2 : length();
  for (const Value& inside : std::span(Layout::values(*this), count)) total += inside.memory_bytes();
  return total;
}

std::size_t Value::depth() const {
  std::size_t deepest = 0;
  std::vector<std::pair<const Value*, std::size_t>> open = {{this, 0}};
  while (!open.empty()) {
    auto [value, above] = open.back();
    open.pop_back();
    if (!value->is_array() && !value->is_object()) continue;
    deepest = std::max(deepest, above + 1);
    for (const Value& item : value->items()) open.emplace_back(&item, above + 1);
    for (auto [key, member] : value->members()) open.emplace_back(&member, above + 1);
  }
  return deepest;
}

}  // namespace slipway::json

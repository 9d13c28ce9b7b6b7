#include "json/value.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#include "base/check.h"
#include "json/layout.h"

namespace slipway::json {

static_assert(sizeof(Value) == 16 && sizeof(Member) == 32 && sizeof(Node) == 8);
static_assert(std::endian::native == std::endian::little, "inline text lies at the first byte of the value");

namespace {

constinit const Value kNull{};

// Dead nodes nested deeper than this wait in a list, so that destroying a deep value needs little stack.
constexpr unsigned kDestroyDepth = 64;

}  // namespace

// Making nodes.

std::size_t Layout::node_bytes(Value::Tag tag, std::size_t size) noexcept {
  if (tag == Value::Tag::Array) return sizeof(Node) + size * sizeof(Value);
  if (tag != Value::Tag::Object) return sizeof(Node) + size;
  return sizeof(Node) + size * sizeof(Member) + (size >= kIndexedFrom ? size * sizeof(std::uint32_t) : 0);
}

Node* Layout::new_node(Value::Tag tag, std::size_t size) {
  SLIPWAY_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
  auto* node = static_cast<Node*>(::operator new(node_bytes(tag, size)));
  new (node) Node{.references = 1, .size = static_cast<std::uint32_t>(size)};
  return node;
}

Value Layout::text(Value::Tag inline_tag, Value::Tag node_tag, std::string_view text) {
  if (text.size() <= kInlineBytes) {
    Value value = short_string(text);
    value.high_ = (value.high_ & ~(std::uint64_t{0xff} << 56)) | Value::word(inline_tag);
    return value;
  }
  Node* node = new_node(node_tag, text.size());
  std::memcpy(node + 1, text.data(), text.size());
  return of(node_tag, node);
}

Value Layout::array(std::span<Value> items) {
  if (items.empty()) return Value::empty_array();
  Node* node = new_node(Value::Tag::Array, items.size());
  std::uninitialized_move(items.begin(), items.end(), Layout::items(node));
  return of(Value::Tag::Array, node);
}

Value Layout::object(std::span<Value> pairs, std::optional<std::size_t>* repeated) {
  const std::size_t count = pairs.size() / 2;
  if (count == 0) return Value::empty_object();
  Node* node = new_node(Value::Tag::Object, count);
  Member* members = Layout::members(node);
  for (std::size_t i = 0; i < count; ++i) new (members + i) Member{std::move(pairs[2 * i]), std::move(pairs[2 * i + 1])};
  if (count >= kIndexedFrom) {
    auto found = fill_index(node);
    if (repeated) *repeated = found;
  } else if (repeated) {
    for (std::size_t i = 1; i < count && !*repeated; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (same_text(members[i].key, members[j].key)) *repeated = i;
      }
    }
  }
  return object_of(node);
}

Value Layout::object(std::span<Member> members) {
  if (members.empty()) return Value::empty_object();
  Node* node = new_node(Value::Tag::Object, members.size());
  std::uninitialized_move(members.begin(), members.end(), Layout::members(node));
  if (members.size() >= kIndexedFrom) fill_index(node);
  return object_of(node);
}

std::optional<std::size_t> Layout::fill_index(Node* node) {
  const Member* all = members(node);
  std::uint32_t* numbers = index(node);
  for (std::uint32_t i = 0; i < node->size; ++i) numbers[i] = i;
  auto less = [all](std::uint32_t left, std::uint32_t right) {
    auto a = all[left].key.as_string();
    auto b = all[right].key.as_string();
    return key_less(a, b) || (left < right && a == b);
  };
  std::sort(numbers, numbers + node->size, less);
  std::optional<std::size_t> repeated;
  for (std::uint32_t i = 1; i < node->size; ++i) {
    if (!same_text(all[numbers[i - 1]].key, all[numbers[i]].key)) continue;
    repeated = std::min<std::size_t>(repeated.value_or(numbers[i]), numbers[i]);
  }
  return repeated;
}

// Destroying nodes.

void Value::destroy(Tag tag, Node* node) noexcept {
  // Takes dead children of a node apart, itself for some levels, by the list for deeper ones.
  struct Reaper {
    std::vector<std::pair<Tag, Node*>> later;

    void drop(Value& value, unsigned depth) {
      if (value.is_counted() && value.node()->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        if (depth < kDestroyDepth) {
          reap(value.tag(), value.node(), depth + 1);
        } else {
          later.emplace_back(value.tag(), value.node());
        }
      }
      value.low_ = value.high_ = 0;
    }
    void reap(Tag tag, Node* node, unsigned depth) {
      if (tag == Tag::Array || tag == Tag::Object) {
        Value* values = Layout::items(node);
        const std::size_t count = tag == Tag::Array ? node->size : std::size_t{node->size} * 2;
        for (std::size_t i = 0; i < count; ++i) drop(values[i], depth);
      }
      ::operator delete(node, Layout::node_bytes(tag, node->size));
    }
  } reaper;
  reaper.reap(tag, node, 0);
  while (!reaper.later.empty()) {
    auto [next_tag, next] = reaper.later.back();
    reaper.later.pop_back();
    reaper.reap(next_tag, next, 0);
  }
}

// Reading.

Value::Value(std::string_view text) {
  if (text.size() <= Layout::kInlineBytes) {
    *this = Layout::short_string(text);
  } else if (auto known = well_known_name(text); !known.empty()) {
    *this = Layout::static_string(known);
  } else {
    *this = Layout::text(Tag::ShortString, Tag::LongString, text);
  }
}

bool Value::as_bool(bool fallback) const noexcept { return is_bool() ? low_ != 0 : fallback; }

std::size_t Layout::find(const Value& object, std::string_view key) noexcept {
  const std::size_t count = object.size();
  if (count == 0) return count;
  const Member* all = members(object.node());
  if (count >= kIndexedFrom) {
    const std::uint32_t* numbers = index(object.node());
    const auto* at = std::lower_bound(numbers, numbers + count, key, [all](std::uint32_t number, std::string_view wanted) {
      return key_less(all[number].key.as_string(), wanted);
    });
    return at != numbers + count && all[*at].key.as_string() == key ? *at : count;
  }
  if (key.size() <= kInlineBytes) {
    const Value wanted = short_string(key);
    for (std::size_t i = 0; i < count; ++i) {
      if (all[i].key.is_same(wanted)) return i;
    }
    return count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].key.as_string() == key) return i;
  }
  return count;
}

const Value* Value::find(std::string_view key) const noexcept {
  if (!is_object()) return nullptr;
  const std::size_t at = Layout::find(*this, key);
  return at < length() ? &Layout::members(node())[at].value : nullptr;
}

const Value& Value::operator[](std::string_view key) const noexcept {
  const Value* found = find(key);
  return found ? *found : kNull;
}

const Value& Value::item(std::size_t index) const noexcept {
  return is_array() && index < length() ? Layout::items(node())[index] : kNull;
}

Members Value::members() const noexcept {
  Members result;
  if (!is_object() || length() == 0) return result;
  result.first_ = Layout::members(node());
  result.size_ = length();
  return result;
}

std::span<const Value> Value::items() const noexcept {
  if (!is_array() || length() == 0) return {};
  return {Layout::items(node()), length()};
}

// Comparing and measuring.

bool Layout::same_text(const Value& left, const Value& right) noexcept {
  if (left.is_same(right)) return true;
  if (left.tag() == Value::Tag::ShortString || right.tag() == Value::Tag::ShortString) return false;
  return left.as_string() == right.as_string();
}

namespace {

bool equal_objects(const Value& left, const Value& right) noexcept {
  if (left.size() != right.size()) return false;
  const Member* a = Layout::members(left);
  const Member* b = Layout::members(right);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Value* other = Layout::same_text(a[i].key, b[i].key) ? &b[i].value : right.find(a[i].key.as_string());
    if (other == nullptr || !(a[i].value == *other)) return false;
  }
  return true;
}

}  // namespace

bool Value::operator==(const Value& other) const noexcept {
  if (is_same(other)) return true;
  if (is_number() && other.is_number()) return Layout::equal_numbers(*this, other);
  if (type() != other.type()) return false;
  if (is_string()) return Layout::same_text(*this, other);
  if (is_array()) return std::ranges::equal(items(), other.items());
  return is_object() && equal_objects(*this, other);
}

std::size_t Value::memory_bytes() const noexcept {
  if (!is_counted()) return 0;
  // glibc: eight bytes before the block, rounded up to sixteen, at least 32.
  const std::size_t size = tag() == Tag::LongNumber || tag() == Tag::LongString ? node()->size : length();
  std::size_t total = std::max<std::size_t>(32, (Layout::node_bytes(tag(), size) + 8 + 15) & ~std::size_t{15});
  for (const Value& item : items()) total += item.memory_bytes();
  for (std::size_t i = 0; i < size && is_object(); ++i) {
    total += Layout::members(node())[i].key.memory_bytes() + Layout::members(node())[i].value.memory_bytes();
  }
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

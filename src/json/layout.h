// How values lie in memory: the nodes behind json::Value, for the sources of this room only. A string or number node is
// followed by its bytes, an array node by its items, an object node by its members and, above kIndexedFrom members, by a table
// of member numbers sorted by key (shorter keys first, then by bytes), so that look-ups in big maps stay logarithmic.
#pragma once

#include <cstring>
#include <span>

#include "json/value.h"

namespace slipway::json {

struct Layout {
  static constexpr std::size_t kInlineBytes = 14;
  static constexpr std::size_t kIndexedFrom = 17;

  static Value text(Value::Tag inline_tag, Value::Tag node_tag, std::string_view text);
  static Value number_text(std::string_view text) {
    return Layout::text(Value::Tag::ShortNumber, Value::Tag::LongNumber, text);
  }
  /// REQUIRES: text.size() <= kInlineBytes.
  static Value short_string(std::string_view text) noexcept {
    unsigned char bytes[16] = {};
    if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
    bytes[14] = static_cast<unsigned char>(text.size());
    bytes[15] = static_cast<unsigned char>(Value::Tag::ShortString);
    std::uint64_t words[2];
    std::memcpy(words, bytes, 16);
    return Value(words[0], words[1]);
  }
  static Value static_string(std::string_view text) noexcept {
    return Value(reinterpret_cast<std::uint64_t>(text.data()), Value::word(Value::Tag::StaticString) | text.size());
  }

  /// Moves the items out of `items`.
  static Value array(std::span<Value> items);
  /// Moves the members out of `pairs` (key, value, key, value …). `repeated`, if given, is set to the number of a member whose
  /// key came before; REQUIRES unique keys otherwise.
  static Value object(std::span<Value> pairs, std::optional<std::size_t>* repeated = nullptr);
  static Value object(std::span<Member> members);

  static const Member* members(const Value& object) noexcept { return members(object.node()); }
  static Member* members(Node* node) noexcept { return reinterpret_cast<Member*>(node + 1); }
  static Value* items(Node* node) noexcept { return reinterpret_cast<Value*>(node + 1); }
  static const char* bytes(const Node* node) noexcept { return reinterpret_cast<const char*>(node + 1); }
  static std::uint32_t* index(Node* node) noexcept { return reinterpret_cast<std::uint32_t*>(members(node) + node->size); }

  /// The number of the member with that key, or the object's size.
  static std::size_t find(const Value& object, std::string_view key) noexcept;
  /// The order of the index.
  static bool key_less(std::string_view left, std::string_view right) noexcept {
    if (left.size() != right.size()) return left.size() < right.size();
    return std::memcmp(left.data(), right.data(), left.size()) < 0;
  }
  /// For strings only.
  static bool same_text(const Value& left, const Value& right) noexcept;
  static bool equal_numbers(const Value& left, const Value& right) noexcept;

  static std::size_t node_bytes(Value::Tag tag, std::size_t size) noexcept;
  static Node* new_node(Value::Tag tag, std::size_t size);
  static Value object_of(Node* node) noexcept { return of(Value::Tag::Object, node); }
  static Value of(Value::Tag tag, Node* node) noexcept {
    return Value(reinterpret_cast<std::uint64_t>(node), Value::word(tag) | node->size);
  }
  /// Sorts the index of a new object node; gives the number of a repeated key.
  static std::optional<std::size_t> fill_index(Node* node);
};

/// The same bytes in the table of well-known names, or empty when absent there.
std::string_view well_known_name(std::string_view text) noexcept;

/// As Go's encoding/json writes a float64. Empty for NaN and infinities.
std::string format_double(double value);

}  // namespace slipway::json

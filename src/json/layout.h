// How values lie in memory: the nodes behind json::Value, for the sources of this room only.
//
//   text         bytes
//   Array        items
//   Object       values, keys; from kIndexedFrom members on a table of member numbers sorted by key follows (shorter keys
//   first, then
//                by bytes), so that look-ups in big maps stay logarithmic
//   NamedObject  the two-byte ids of its keys, values: what most of a Kubernetes object is made of
//
// A node begins with its four bytes of references; values begin at the next multiple of eight.
// Which of the two an object is follows from its keys alone.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "json/value.h"

namespace slipway::json {

struct Layout {
  using Tag = Value::Tag;

  static constexpr std::size_t kInlineBytes = 14;
  static constexpr std::size_t kIndexedFrom = 17;
  static constexpr std::size_t kMostNamed = 64;

  static Value text(Tag inline_tag, Tag node_tag, std::string_view text);
  static Value number_text(std::string_view text) { return Layout::text(Tag::ShortNumber, Tag::LongNumber, text); }
  /// The two words of a string of kInlineBytes or less.
  static constexpr std::array<std::uint64_t, 2> short_words(std::string_view text) noexcept {
    std::array<std::uint64_t, 2> words{};
    if consteval {
      for (std::size_t i = 0; i < text.size(); ++i) {
        words[i / 8] |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i % 8));
      }
    } else {
      if (!text.empty()) std::memcpy(words.data(), text.data(), text.size());
    }
    words[1] |= (text.size() << 48) | Value::word(Tag::ShortString);
    return words;
  }
  static Value short_string(std::string_view text) noexcept {
    const auto words = short_words(text);
    return Value(words[0], words[1]);
  }
  static Value static_string(std::uint16_t id) noexcept {
    const std::string_view text = well_known_name(id);
    return Value(reinterpret_cast<std::uint64_t>(text.data()),
                 Value::word(Tag::StaticString) | (std::uint64_t{id} << 32) | text.size());
  }

  /// The id of a well-known name.
  static std::optional<std::uint16_t> short_name_id(std::uint64_t low, std::uint64_t high) noexcept;
  static std::optional<std::uint16_t> long_name_id(std::string_view text) noexcept;
  static std::optional<std::uint16_t> name_id(const Value& key) noexcept {
    if (key.tag() == Tag::ShortString) return short_name_id(key.low_, key.high_);
    if (key.tag() == Tag::StaticString) return static_cast<std::uint16_t>(key.high_ >> 32);
    return std::nullopt;
  }

  /// Moves the items out of `items`.
  static Value array(std::span<Value> items);
  /// Moves the members out of `pairs` (key, value, key, value …). `repeated`, if given, is set to the number of a member whose
  /// key came before; REQUIRES unique keys otherwise.
  static Value object(std::span<Value> pairs, std::optional<std::size_t>* repeated = nullptr);
  /// Key, value, key, value …
  static std::vector<Value> pairs(const Value& object, std::size_t room = 0);

  /// Items of an array, values of an object. These need a node: REQUIRES size > 0.
  static Value* values(const Value& container) noexcept {
    return reinterpret_cast<Value*>(container.low_ + header_bytes(container.tag(), container.length()));
  }
  static Value* keys(const Value& object) noexcept { return values(object) + object.length(); }
  static std::uint32_t* index(const Value& object) noexcept {
    return reinterpret_cast<std::uint32_t*>(keys(object) + object.length());
  }
  static std::uint16_t* ids(const Value& object) noexcept { return reinterpret_cast<std::uint16_t*>(object.node() + 1); }
  static bool is_named(const Value& object) noexcept { return object.tag() == Tag::NamedObject; }
  static Value key(const Value& object, std::size_t member) noexcept;

  /// The number of the member with that key, or the object's size.
  static std::size_t find(const Value& object, std::string_view key) noexcept;
  /// A new object like this with one value replaced.
  static Value replaced(const Value& object, std::size_t member, Value value);
  /// The order of the index.
  static bool key_less(std::string_view left, std::string_view right) noexcept {
    if (left.size() != right.size()) return left.size() < right.size();
    return std::memcmp(left.data(), right.data(), left.size()) < 0;
  }
  /// For strings only.
  static bool same_text(const Value& left, const Value& right) noexcept;
  static bool equal_numbers(const Value& left, const Value& right) noexcept;
  static bool equal_objects(const Value& left, const Value& right) noexcept;

  /// Bytes before the values of a container.
  static constexpr std::size_t header_bytes(Tag tag, std::size_t size) noexcept {
    return tag == Tag::NamedObject ? (sizeof(Node) + size * sizeof(std::uint16_t) + 7) & ~std::size_t{7} : 8;
  }
  static std::size_t node_bytes(Tag tag, std::size_t size) noexcept;
  /// With room for the content, which the caller fills in.
  static Value new_node(Tag tag, std::size_t size);

 private:
  static bool name_all(std::span<const Value> pairs, std::array<std::uint16_t, kMostNamed>& ids) noexcept;
  static std::optional<std::size_t> fill_index(const Value& object);
};

/// As Go's encoding/json writes a float64. Empty for NaN and infinities.
std::string format_double(double value);

}  // namespace slipway::json

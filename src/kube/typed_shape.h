// How values of one schema node fall apart into paths: for the typed_*.cc sources only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "kube/field_set.h"
#include "kube/schema_node.h"

namespace slipway::kube::typed {

/// Map: granular. List: associative, by keys or as a set. Leaf: everything else.
enum class Shape : std::uint8_t { Null, Leaf, Map, List };
Shape shape_of(const SchemaNode* node, const json::Value& value);

/// Whether containers at this node are leaves by its own declaration.
bool is_atomic(const SchemaNode* node);

/// The node of a member; nullptr is the deduced type.
struct MemberNode {
  const SchemaNode* node = nullptr;
  bool is_declared = false;  // a property, not a key of a map
  bool is_known = true;      // false: the schema has no place for it
};
MemberNode member_node(const SchemaNode* node, std::string_view name);
/// REQUIRES: the shape is List.
inline const SchemaNode* item_node(const SchemaNode* node) { return node->items; }

/// Finds the members of one object in another of mostly the same order, mostly without searching.
class Beside {
 public:
  explicit Beside(const json::Value& object) : object_(object), members_(object.members()), next_(members_.begin()) {}
  /// nullptr when absent. REQUIRES: `name` comes from the members of an object.
  const json::Value* find(std::string_view name);

 private:
  const json::Value& object_;
  json::Members members_;
  json::Members::iterator next_;
};

/// The key field of an item, its default, or nullptr.
const json::Value* key_field(const SchemaNode& list, const json::Value& item, const std::string& key);
/// Why an item has no identity, or nullptr.
const char* identity_error(const SchemaNode& list, const json::Value& item);
/// REQUIRES: identity_error is nullptr.
PathElement item_element(const SchemaNode& list, const json::Value& item);

/// The items of an associative list by identity, without making path elements.
class ItemIndex {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  ItemIndex(const SchemaNode& list, std::span<const json::Value> items);
  std::size_t size() const { return items_.size(); }
  const json::Value& item(std::size_t at) const { return items_[at]; }
  std::span<const json::Value> items() const { return items_; }
  /// Whether the item can be told apart from others at all.
  bool has_identity(std::size_t at) const { return slots_[at].first != kNone; }
  bool is_first(std::size_t at) const { return slots_[at].first == at; }
  /// How often the identity of the item occurs. REQUIRES: is_first(at).
  std::size_t count(std::size_t at) const { return slots_[at].count; }
  /// The next item with the identity of this one, or kNone.
  std::size_t next(std::size_t at) const { return slots_[at].next; }
  /// The first item here with the identity of item `at` of `other`, or kNone.
  std::size_t match(const ItemIndex& other, std::size_t at) const;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::size_t first = kNone;
    std::size_t next = kNone;
    std::size_t last = kNone;  // of a first one: the last with its identity
    std::size_t count = 0;
  };
  struct Known {
    std::uint64_t hash = 0;
    std::size_t at = 0;
  };
  void put(std::size_t at, std::size_t first);
  /// Among the items before `end`.
  std::size_t find_in_order(std::uint64_t hash, const json::Value& item, std::size_t end) const;
  std::size_t find_sorted(std::uint64_t hash, const json::Value& item) const;
  void sort();

  const SchemaNode& list_;
  std::span<const json::Value> items_;
  std::vector<Slot> slots_;
  // Only for long lists: by hash, then identity, then place. Hashes alone would let a client craft a list that is slow to
  // search.
  std::vector<Known> sorted_;
};

}  // namespace slipway::kube::typed

// What the two halves of strategic merge patch, applying and creating, share: directives by name, what the schema says of a
// field, lists keyed by a merge key, and Go's text of values, by which scalars are compared and errors worded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "kube/schema_node.h"

namespace slipway::kube::strategic {

inline constexpr std::string_view kPatch = "$patch";
inline constexpr std::string_view kRetainKeys = "$retainKeys";
inline constexpr std::string_view kSetElementOrder = "$setElementOrder";
inline constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList";

using Items = std::vector<json::Value>;

/// A field of an object: its node (nullptr: unknown), and whether its list is merged, and by which key.
struct Field {
  const SchemaNode* node = nullptr;
  bool merges = false;
  bool replaces = false;
  bool retains_keys = false;
  std::string_view merge_key{};

  const SchemaNode* items() const { return node == nullptr ? nullptr : node->items; }
};
Field field_of(const SchemaNode* node, std::string_view name);

/// As Go's %v: map[a:1 b:[x y]].
std::string go_text(const json::Value& value);
/// "expected a map[string]interface {}, but received a string".
std::unexpected<Status> bad_type(std::string_view expected, const json::Value& actual);
inline constexpr std::string_view kGoMap = "map[string]interface {}";
inline constexpr std::string_view kGoSlice = "[]interface {}";
std::unexpected<Status> no_merge_key(const json::Value& item, std::string_view merge_key);
std::unexpected<Status> malformed(std::string message);

/// Whether the items of both lists are objects. Fails when they are of different types, or lists.
Result<bool> holds_objects(const Items& left, const Items& right);
/// What an item is known by in a list: the type and text of its merge key or, without one, of itself. Equal items have equal
/// texts.
std::string key_text(const json::Value& item, std::string_view merge_key);
/// Where items stand in a list, by key_text(); of items with one key the first counts. Made once per list, so that merging two
/// lists takes time as sorting them, not as comparing each with each.
class Places {
 public:
  explicit Places(std::string_view merge_key) : merge_key_(merge_key) {}
  Places(const Items& list, std::string_view merge_key) : Places(merge_key) {
    for (const json::Value& item : list) append(item);
  }

  /// The item stands behind all others now.
  void append(const json::Value& item) { place_of_.try_emplace(key_text(item, merge_key_), size_++); }
  /// -1 when there is none like it.
  std::ptrdiff_t of(const json::Value& item) const {
    const auto found = place_of_.find(key_text(item, merge_key_));
    return found == place_of_.end() ? -1 : found->second;
  }
  bool has(const json::Value& item) const { return of(item) >= 0; }

 private:
  std::string_view merge_key_;
  std::map<std::string, std::ptrdiff_t> place_of_;
  std::ptrdiff_t size_ = 0;
};
/// `list` in the order of `order`, whose places are `places`; items to be deleted come last.
Result<Items> in_order_of(const Items& list, const Items& order, const Places& places, std::string_view merge_key);
bool is_deletion(const json::Value& item);
Items items_of(const json::Value& list);

/// The items in the order of rank(item); equal ones keep theirs. (std::stable_sort is deprecated inside with this library.)
template <class Rank>
Items sorted_by(const Items& list, const Rank& rank) {
  std::vector<std::pair<decltype(rank(list.front())), std::size_t>> order;
  for (const json::Value& item : list) order.emplace_back(rank(item), order.size());
  std::ranges::sort(order);
  Items out;
  out.reserve(list.size());
  for (const auto& [key, at] : order) out.push_back(list[at]);
  return out;
}

enum class MergeInto { Object, Patch };
/// Merges `patch` into an object, or into another patch whose directives stay.
Result<json::Value> merge_objects(const SchemaNode* node, const json::Value& original, const json::Value& patch,
                                  MergeInto into);

}  // namespace slipway::kube::strategic

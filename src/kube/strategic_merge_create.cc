#include <algorithm>
#include <map>
#include <set>

#include "kube/strategic_merge.h"
#include "kube/strategic_merge_parts.h"

namespace slipway::kube {
namespace strategic {
namespace {

using json::Value;

/// Which differences a patch is to hold.
enum class Wanted { Everything, Changes, Deletions };

class Difference {
 public:
  explicit Difference(Wanted wanted) : wanted_(wanted) {}

  Result<Value> objects(const SchemaNode* node, const Value& original, const Value& modified, bool retains_keys) const {
    json::ObjectBuilder patch;
    for (const auto [key, value] : modified.members()) {
      const Value* old = original.find(key);
      if (old == nullptr) {
        if (has_changes()) patch.set(key, value);
      } else if (key == kPatch) {
        if (!old->is_string() || !value.is_string()) return malformed("invalid value for special key: $patch");
        if (*old != value) patch.set(key, value);
      } else {
        SLIPWAY_TRY_VOID(member(field_of(node, key), key, *old, value, patch));
      }
    }
    bool has_more = false;
    for (const auto [key, value] : original.members()) {
      if (modified.has(key)) continue;
      has_more |= !value.is_null();
      if (has_deletions()) patch.set(key, Value());
    }
    if (retains_keys && (!patch.empty() || has_more)) {
      std::set<std::string> keys;
      for (const auto [key, value] : modified.members()) {
        if (!value.is_null()) keys.emplace(key);
      }
      if (!keys.empty()) patch.set(kRetainKeys, json::array(std::vector<std::string>(keys.begin(), keys.end())));
    }
    return patch.build();
  }

 private:
  bool has_changes() const { return wanted_ != Wanted::Deletions; }
  bool has_deletions() const { return wanted_ != Wanted::Changes; }

  Result<void> member(const Field& field, std::string_view key, const Value& old, const Value& value,
                      json::ObjectBuilder& patch) const {
    if (old.is_object() && value.is_object() && !field.replaces) {
      SLIPWAY_TRY(below, objects(field.node, old, value, field.retains_keys));
      if (!below.empty()) patch.set(key, std::move(below));
    } else if (old.is_array() && value.is_array() && field.merges) {
      SLIPWAY_TRY_VOID(lists(field, key, old, value, patch));
    } else if (has_changes() && old != value) {
      patch.set(key, value);
    }
    return {};
  }

  Result<void> lists(const Field& field, std::string_view key, const Value& old, const Value& value,
                     json::ObjectBuilder& patch) const {
    if (old.empty()) {
      if (!value.empty() && has_changes()) patch.set(key, value);
      return {};
    }
    const Items original = items_of(old);
    const Items modified = items_of(value);
    SLIPWAY_TRY(has_objects, holds_objects(original, modified));
    if (!has_objects) {
      scalars(key, original, modified, patch);
      return {};
    }
    SLIPWAY_TRY(changes, keyed_items(field, original, modified));
    bool is_order_same = original.size() == modified.size();
    for (std::size_t i = 0; is_order_same && i < original.size(); ++i) {
      is_order_same = original[i][field.merge_key] == modified[i][field.merge_key];
    }
    if (!changes.empty()) patch.set(key, json::array(std::span<const Value>(changes)));
    if (changes.empty() && (!has_changes() || is_order_same)) return {};
    json::ArrayBuilder order;
    for (const Value& item : modified) order.add(json::object({{field.merge_key, item[field.merge_key]}}));
    add_order(key, order.build(), patch);
    return {};
  }

  static void add_order(std::string_view key, Value order, json::ObjectBuilder& patch) {
    if (!order.empty()) patch.set(std::string(kSetElementOrder) + "/" + std::string(key), std::move(order));
  }

  /// A repeated scalar counts as often as it stands, as upstream.
  void scalars(std::string_view key, const Items& original, const Items& modified, json::ObjectBuilder& patch) const {
    const auto by_text = [](const Items& list) { return sorted_by(list, go_text); };
    const auto old = by_text(original);
    const auto now = by_text(modified);
    Items added;
    Items gone;
    Places gone_places({});
    for (std::size_t i = 0, j = 0; i < old.size() || j < now.size();) {
      const std::string left = i < old.size() ? go_text(old[i]) : "";
      const std::string right = j < now.size() ? go_text(now[j]) : "";
      if (i < old.size() && j < now.size() && left == right) {
        ++i;
        ++j;
      } else if (j == now.size() || (i < old.size() && left < right)) {
        if (!gone_places.has(old[i])) {
          gone.push_back(old[i]);
          gone_places.append(old[i]);
        }
        ++i;
      } else {
        added.push_back(now[j++]);
      }
    }
    const Places places(modified, {});
    added = sorted_by(added, [&](const Value& item) { return places.of(item); });
    if (has_changes() && !added.empty()) patch.set(key, json::array(std::span<const Value>(added)));
    const bool is_changed = (has_deletions() && !gone.empty()) || (has_changes() && original != modified);
    if (has_deletions() && !gone.empty()) {
      patch.set(std::string(kDeleteFromPrimitiveList) + "/" + std::string(key), json::array(std::span<const Value>(gone)));
    }
    if (is_changed) add_order(key, json::array(std::span<const Value>(modified)), patch);
  }

  /// Changed and new items in the order of `modified`, then deletions in the order of their keys.
  Result<Items> keyed_items(const Field& field, const Items& original, const Items& modified) const {
    for (const Items* list : {&original, &modified}) {
      for (const Value& item : *list) {
        if (!item.has(field.merge_key)) return no_merge_key(item, field.merge_key);
      }
    }
    Items changes;
    std::vector<bool> is_paired(original.size());
    std::map<std::string, std::vector<std::size_t>>
        unpaired;  // by key, the first last: repeated keys are paired in their order
    for (std::size_t at = original.size(); at-- > 0;) unpaired[key_text(original[at], field.merge_key)].push_back(at);
    for (const Value& item : modified) {
      const auto found = unpaired.find(key_text(item, field.merge_key));
      if (found == unpaired.end() || found->second.empty()) {
        if (has_changes()) changes.push_back(item);
        continue;
      }
      const std::size_t at = found->second.back();
      found->second.pop_back();
      is_paired[at] = true;
      SLIPWAY_TRY(below, objects(field.items(), original[at], item, field.retains_keys));
      if (!below.empty()) changes.push_back(below.with(field.merge_key, item[field.merge_key]));
    }
    if (!has_deletions()) return changes;
    Items gone;
    for (std::size_t at = 0; at < original.size(); ++at) {
      if (is_paired[at]) continue;
      gone.push_back(json::object({{field.merge_key, original[at][field.merge_key]}, {kPatch, "delete"}}));
    }
    gone = sorted_by(gone, [&](const Value& item) { return go_text(item[field.merge_key]); });
    changes.insert(changes.end(), gone.begin(), gone.end());
    return changes;
  }

  Wanted wanted_;
};

}  // namespace
}  // namespace strategic

Result<json::Value> create_strategic_merge(const SchemaNode* node, const json::Value& original, const json::Value& modified) {
  return strategic::Difference(strategic::Wanted::Everything).objects(node, original, modified, false);
}

Result<json::Value> create_three_way_strategic_merge(const SchemaNode* node, const json::Value& original,
                                                     const json::Value& modified, const json::Value& current) {
  SLIPWAY_TRY(changes, strategic::Difference(strategic::Wanted::Changes).objects(node, current, modified, false));
  SLIPWAY_TRY(deletions, strategic::Difference(strategic::Wanted::Deletions).objects(node, original, modified, false));
  return strategic::merge_objects(node, deletions, changes, strategic::MergeInto::Patch);
}

}  // namespace slipway::kube

#include "kube/strategic_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "kube/strategic_merge_parts.h"

namespace slipway::kube {
namespace strategic {
namespace {

using json::Value;

bool is_parallel_list(std::string_view key) {
  return key.starts_with(kSetElementOrder) || key.starts_with(kDeleteFromPrimitiveList);
}

/// "$setElementOrder/f" → "f"; empty when it is not of that form.
std::string_view after_slash(std::string_view key, std::string_view directive) {
  if (key.size() <= directive.size() || key[directive.size()] != '/') return {};
  return key.substr(directive.size() + 1);
}

/// An object while it is changed: it is made anew once, however many members change.
class Draft {
 public:
  explicit Draft(Value from) : from_(std::move(from)) {}

  /// Null when there is none. Valid until the next change of that member.
  const Value* find(std::string_view key) const {
    const auto changed = changes_.find(key);
    if (changed == changes_.end()) return from_.find(key);
    return changed->second ? &*changed->second : nullptr;
  }
  void set(std::string_view key, Value value) { change(key) = std::move(value); }
  void remove(std::string_view key) {
    if (find(key) != nullptr) change(key).reset();
  }
  Value build() {
    if (changes_.empty()) return from_;
    json::ObjectBuilder out(from_.size() + added_.size());
    for (const auto [key, value] : from_.members()) {
      const auto changed = changes_.find(key);
      if (changed == changes_.end()) out.add(key, value);
      if (changed != changes_.end() && changed->second) out.add(key, *changed->second);
    }
    for (const std::string& key : added_) {
      if (auto& value = changes_.find(key)->second) out.add(key, std::move(*value));
    }
    return out.build();
  }

 private:
  std::optional<Value>& change(std::string_view key) {
    const auto [found, is_new] = changes_.try_emplace(std::string(key));
    if (is_new && !from_.has(key)) added_.emplace_back(key);
    return found->second;
  }

  const Value from_;
  std::map<std::string, std::optional<Value>, std::less<>> changes_;  // nullopt: the member goes
  std::vector<std::string> added_;
};

using Names = std::set<std::string, std::less<>>;

class Merge {
 public:
  explicit Merge(MergeInto into) : into_(into) {}

  Result<Value> objects(const SchemaNode* node, Value original, Value patch) const {
    if (const Value* directive = patch.find(kPatch)) {
      if (directive->as_string() == "replace") return taken(patch.without(kPatch));
      if (directive->as_string() == "delete") return Value::empty_object();
      return malformed(fmt::format("unknown patch type: {} in map: {}", go_text(*directive), go_text(patch)));
    }
    if (!original.is_object()) original = Value::empty_object();
    SLIPWAY_TRY_VOID(retain_keys(original, patch));
    Draft draft(std::move(original));
    Names done;
    SLIPWAY_TRY_VOID(order_lists(node, draft, patch, done));
    for (const auto [key, value] : patch.members()) {
      if (!done.contains(key)) SLIPWAY_TRY_VOID(member(node, draft, key, value));
    }
    return draft.build();
  }

 private:
  bool is_final() const { return into_ == MergeInto::Object; }

  /// What a part of a patch becomes where nothing stands that it could be merged with: items and members that are directives
  /// go. In an object so do nulls and the lists beside a list (DIVERGES: upstream leaves the latter to be found unknown).
  Value taken(const Value& patch) const {
    if (patch.is_array()) {
      json::ArrayBuilder out;
      for (const Value& item : patch.items()) {
        if (!item.has(kPatch)) out.add(taken(item));
      }
      return out.build();
    }
    if (!patch.is_object()) return patch;
    json::ObjectBuilder out(patch.size());
    for (const auto [key, value] : patch.members()) {
      if (value.has(kPatch)) continue;
      if (is_final() && (value.is_null() || is_parallel_list(key) || key == kRetainKeys)) continue;
      out.add(key, taken(value));
    }
    return out.build();
  }

  /// Takes the directive "$retainKeys" out of the patch and obeys it.
  Result<void> retain_keys(Value& original, Value& patch) const {
    const Value* found = patch.find(kRetainKeys);
    if (found == nullptr) return {};
    const Value keys = *found;
    patch = patch.without(kRetainKeys);
    if (!is_final()) {
      if (original.has(kRetainKeys) && original[kRetainKeys] != keys) {
        return malformed(fmt::format("{} and {} are not deep equal: this may happen when calculating the 3-way diff patch",
                                     go_text(original[kRetainKeys]), go_text(keys)));
      }
      original = original.with(kRetainKeys, keys);
      return {};
    }
    constexpr std::string_view kBad = "invalid patch format of retainKeys";
    if (!keys.is_array()) return malformed(std::string(kBad));
    Names retained;
    for (const Value& key : keys.items()) retained.insert(key.str());
    for (const auto [key, value] : patch.members()) {
      if (!value.is_null() && !is_parallel_list(key) && !retained.contains(key)) return malformed(std::string(kBad));
    }
    json::ObjectBuilder kept;
    for (const auto [key, value] : original.members()) {
      if (retained.contains(key)) kept.add(key, value);
    }
    original = kept.build();
    return {};
  }

  /// Merges and orders the list f of every "$setElementOrder/f"; both are done with then.
  Result<void> order_lists(const SchemaNode* node, Draft& draft, const Value& patch, Names& done) const {
    for (const auto [key, order] : patch.members()) {
      if (!key.starts_with(kSetElementOrder)) continue;
      constexpr std::string_view kBad = "invalid patch format of setElementOrder list";
      if (!is_final()) {
        const Value* before = draft.find(key);
        if (before != nullptr && *before != order) return malformed(std::string(kBad));
        draft.set(key, order);
      }
      done.emplace(key);
      if (!order.is_array()) return bad_type(kGoSlice, order);
      const std::string_view name = after_slash(key, kSetElementOrder);
      if (name.empty()) return malformed(std::string(kBad));
      SLIPWAY_TRY(merged, ordered_list(field_of(node, name), draft.find(name), patch.find(name), items_of(order)));
      if (!merged.is_null()) draft.set(name, std::move(merged));
      done.emplace(name);
    }
    return {};
  }

  /// Null when there is no such list.
  Result<Value> ordered_list(const Field& field, const Value* original, const Value* patch, const Items& order) const {
    for (const Value* list : {original, patch}) {
      if (list != nullptr && !list->is_array()) return bad_type(kGoSlice, *list);
    }
    if (original == nullptr && patch == nullptr) return Value();
    const Items live = original == nullptr ? Items{} : items_of(*original);
    if (patch != nullptr) SLIPWAY_TRY_VOID(check_order(items_of(*patch), order, field.merge_key));
    Items merged = live;
    if (original == nullptr) merged = items_of(taken(*patch));
    if (original != nullptr && patch != nullptr) {
      SLIPWAY_TRY(both, list(field, *original, *patch));
      merged = items_of(both);
    }
    SLIPWAY_TRY_VOID(holds_objects(live, patch == nullptr ? Items{} : items_of(*patch)));
    const Items places = patch == nullptr ? live : shifted(live, items_of(*patch), field.merge_key);
    SLIPWAY_TRY(sorted, arranged(merged, order, places, field.merge_key));
    return json::array(std::span<const Value>(sorted));
  }

  /// The live order by which items are placed that the patch does not order: deleted items are gone, and what is added stands
  /// in the room they left at the end, but no further (upstream edits the live list in place).
  static Items shifted(const Items& live, const Items& changes, std::string_view merge_key) {
    if (merge_key.empty()) return live;
    Items left = live;
    Places gone(merge_key);
    for (const Value& change : changes) {
      if (is_deletion(change)) gone.append(change);
    }
    std::erase_if(left, [&](const Value& item) { return gone.has(item); });
    Places places(left, merge_key);
    for (const Value& change : changes) {
      if (left.size() >= live.size()) break;
      if (change.has(kPatch) || places.has(change)) continue;
      left.push_back(change);
      places.append(change);
    }
    return left;
  }

  /// The items of a patch must stand in the order that goes with it; deletions and directives aside.
  static Result<void> check_order(const Items& patch, const Items& order, std::string_view merge_key) {
    if (patch.empty() || order.empty()) return {};
    std::size_t at = 0;
    const auto skip = [&] {
      while (at < patch.size() && patch[at].has(kPatch)) ++at;
    };
    for (const Items* one : {&patch, &order}) {
      for (const Value& item : *one) {
        if (merge_key.empty()) break;
        if (!item.is_object()) return bad_type(kGoMap, item);
        if (!item.has(merge_key)) return no_merge_key(item, merge_key);
      }
    }
    skip();
    for (const Value& item : order) {
      if (at == patch.size()) break;
      if (key_text(item, merge_key) == key_text(patch[at], merge_key)) ++at;
      skip();
    }
    if (at == patch.size()) return {};
    return malformed(fmt::format("The order in patch list:\n{}\n doesn't match {} list:\n{}\n", go_text(json::array(patch)),
                                 kSetElementOrder, go_text(json::array(order))));
  }

  /// What `first` names stands in its order; the rest keeps the order of `live` and, as well as that goes, its place.
  static Result<Items> arranged(const Items& merged, const Items& first, const Items& live, std::string_view merge_key) {
    const Places in_first(first, merge_key);
    Items named;
    Items rest;
    for (const Value& item : merged) {
      if (!merge_key.empty() && !item.is_object()) return bad_type(kGoMap, item);
      if (!merge_key.empty() && !item.has(merge_key)) return no_merge_key(item, merge_key);
      (in_first.has(item) ? named : rest).push_back(item);
    }
    SLIPWAY_TRY(right, in_order_of(named, first, in_first, merge_key));
    const Places in_live(live, merge_key);
    SLIPWAY_TRY(left, in_order_of(rest, live, in_live, merge_key));
    Items out;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < left.size() || j < right.size()) {
      bool takes_left = j == right.size();
      if (i < left.size() && j < right.size()) {
        const std::ptrdiff_t at = in_live.of(left[i]);
        const std::ptrdiff_t other = in_live.of(right[j]);
        takes_left = at >= 0 && other >= 0 && at < other;
      }
      out.push_back(takes_left ? left[i++] : right[j++]);
    }
    return out;
  }

  Result<void> member(const SchemaNode* node, Draft& draft, std::string_view key, const Value& patch) const {
    const bool is_deletion_list = key.starts_with(kDeleteFromPrimitiveList);
    if (is_deletion_list && !is_final()) {
      draft.set(key, patch);
      return {};
    }
    const std::string_view name = is_deletion_list ? after_slash(key, kDeleteFromPrimitiveList) : key;
    if (name.empty() && is_deletion_list) return malformed("invalid patch format of primitive list");
    if (patch.is_null()) {
      is_final() ? draft.remove(name) : draft.set(name, patch);
      return {};
    }
    const Value* old = draft.find(name);
    const bool is_same_kind =
        old != nullptr && ((old->is_object() && patch.is_object()) || (old->is_array() && patch.is_array()));
    if (!is_same_kind) {
      if (is_deletion_list) return {};
      patch.has(kPatch) ? draft.remove(name) : draft.set(name, taken(patch));
      return {};
    }
    const Field field = field_of(node, name);
    const Value before = *old;
    if (is_deletion_list) {
      SLIPWAY_TRY(left, without_scalars(before, patch));
      draft.set(name, std::move(left));
    } else if (patch.is_array()) {
      SLIPWAY_TRY(merged, list(field, before, patch));
      draft.set(name, std::move(merged));
    } else {
      SLIPWAY_TRY(merged, field.replaces ? Result<Value>(patch) : objects(field.node, before, patch));
      draft.set(name, std::move(merged));
    }
    return {};
  }

  static Result<Value> without_scalars(const Value& live, const Value& gone) {
    const Items listed = items_of(gone);
    SLIPWAY_TRY(has_objects, holds_objects(items_of(live), listed));
    if (has_objects) return malformed("invalid patch format of primitive list");
    const Places places(listed, {});
    json::ArrayBuilder out;
    for (const Value& item : live.items()) {
      if (!places.has(item)) out.add(item);
    }
    return out.build();
  }

  Result<Value> list(const Field& field, const Value& original, const Value& patch) const {
    if (!field.merges) return is_final() ? taken(patch) : patch;
    if (original.empty() && patch.empty()) return original;
    Items live = items_of(original);
    Items changes = items_of(patch);
    SLIPWAY_TRY(has_objects, holds_objects(live, changes));
    if (!has_objects) {
      Items merged;
      Places places({});
      for (const Items* one : {&live, &changes}) {
        for (const Value& item : *one) {
          if (places.has(item)) continue;
          merged.push_back(item);
          places.append(item);
        }
      }
      SLIPWAY_TRY(sorted, arranged(merged, changes, live, {}));
      return json::array(std::span<const Value>(sorted));
    }
    if (field.merge_key.empty()) return malformed("cannot merge lists without merge key for type struct");
    SLIPWAY_TRY_VOID(obey_directives(live, changes, field.merge_key));
    SLIPWAY_TRY(merged, keyed_items(field, live, changes));
    SLIPWAY_TRY(sorted, arranged(merged, changes, live, field.merge_key));
    return json::array(std::span<const Value>(sorted));
  }

  /// Items of a patch with "$patch": delete takes the item with that key away, replace anywhere makes the others the whole
  /// list.
  static Result<void> obey_directives(Items& live, Items& changes, std::string_view merge_key) {
    Items plain;
    Places gone(merge_key);
    bool replaces = false;
    for (const Value& change : changes) {
      const Value* directive = change.find(kPatch);
      if (directive == nullptr) {
        plain.push_back(change);
      } else if (directive->as_string() == "delete") {
        if (!change.has(merge_key)) return no_merge_key(change, merge_key);
        gone.append(change);
      } else if (directive->as_string() == "replace") {
        replaces = true;
      } else if (directive->as_string() == "merge") {
        return malformed("merging lists cannot yet be specified in the patch");
      } else {
        return malformed(fmt::format("unknown patch type: {} in map: {}", go_text(*directive), go_text(change)));
      }
    }
    std::erase_if(live, [&](const Value& item) { return gone.has(item); });
    changes = std::move(plain);
    if (replaces) live = std::exchange(changes, {});
    return {};
  }

  Result<Items> keyed_items(const Field& field, Items live, const Items& changes) const {
    Places places(live, field.merge_key);
    for (const Value& change : changes) {
      if (!change.has(field.merge_key)) return no_merge_key(change, field.merge_key);
      const std::ptrdiff_t at = places.of(change);
      if (at < 0) {
        live.push_back(taken(change));
        places.append(live.back());
        continue;
      }
      SLIPWAY_TRY(merged, objects(field.items(), live[static_cast<std::size_t>(at)], change));
      live[static_cast<std::size_t>(at)] = std::move(merged);
    }
    return live;
  }

  MergeInto into_;
};

}  // namespace

Result<Value> merge_objects(const SchemaNode* node, const Value& original, const Value& patch, MergeInto into) {
  return Merge(into).objects(node, original, patch);
}

}  // namespace strategic

Result<json::Value> apply_strategic_merge(const SchemaNode* node, const json::Value& live, const json::Value& patch) {
  if (!patch.is_object()) return fail(Reason::BadRequest, "a strategic merge patch must be an object");
  return strategic::merge_objects(node, live, patch, strategic::MergeInto::Object);
}

}  // namespace slipway::kube

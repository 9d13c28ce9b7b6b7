#include "delivery/package/metadata_merge.h"

#include <algorithm>

#include "json/members.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

std::string_view identity(const Value& item) { return item.is_string() ? item.as_string() : item["uid"].as_string(); }

const Value* find(const Value& list, const Value& wanted) {
  const auto items = list.items();
  const auto found = std::ranges::find_if(items, [&](const Value& one) { return identity(one) == identity(wanted); });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

Value merge_members(const Value& base, const Value& current, const Value& sent) {
  json::ObjectBuilder merged(
      json::members_where(current, [&](std::string_view key) { return sent.has(key) || !base.has(key); }));
  for (const auto& [key, value] : sent.members()) {
    if (base[key] != value) merged.set(key, value);
  }
  return merged.build();
}

Value merge_items(const Value& base, const Value& current, const Value& sent) {
  json::ArrayBuilder merged;
  for (const Value& one : current.items()) {
    const bool is_taken_away = find(base, one) != nullptr && find(sent, one) == nullptr;
    const Value* other = find(sent, one);
    if (!is_taken_away) merged.add(other == nullptr ? one : *other);
  }
  for (const Value& one : sent.items()) {
    if (find(base, one) == nullptr && find(current, one) == nullptr) merged.add(one);
  }
  return merged.build();
}

Value merge_metadata(const Value& base, const Value& current, const Value& sent) {
  json::ObjectBuilder made;
  for (const char* key : {"labels", "annotations"}) made.add(key, merge_members(base[key], current[key], sent[key]));
  made.add("finalizers", merge_items(base["finalizers"], current["finalizers"], sent["finalizers"]));
  return made.build();
}

}  // namespace slipway::delivery::package

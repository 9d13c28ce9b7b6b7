#include "delivery/application/component_patch.h"

#include <algorithm>
#include <vector>

namespace slipway::delivery::application {
namespace {

bool has_names(const Value& list) {
  return list.is_array() && std::ranges::all_of(list.items(), [](const Value& one) { return one["name"].is_string(); });
}

Value merge_lists(const Value& base, const Value& change) {
  std::vector<Value> merged(base.items().begin(), base.items().end());
  for (const Value& item : change.items()) {
    const auto same = std::ranges::find_if(merged, [&](const Value& one) { return one["name"] == item["name"]; });
    if (same == merged.end()) {
      merged.push_back(item);
    } else {
      *same = merge_export(*same, item);
    }
  }
  return json::array(merged);
}

}  // namespace

Value merge_export(const Value& base, const Value& change) {
  if (has_names(base) && has_names(change)) return merge_lists(base, change);
  if (!change.is_object()) return change;
  Value merged = base.is_object() ? base : Value::empty_object();
  for (const auto& [key, value] : change.members()) {
    merged = value.is_null() ? merged.without(key) : merged.with(key, merge_export(merged[key], value));
  }
  return merged;
}

Value with_replicas(const Value& object, const Value& replicas) {
  return replicas.is_null() || object.is_null() ? object : object.with_path({"spec", "replicas"}, replicas);
}

}  // namespace slipway::delivery::application

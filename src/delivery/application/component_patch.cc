#include "delivery/application/component_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/workflow/variable_path.h"

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

/// Fields of pods, and where workloads have the pods' spec.
constexpr std::string_view kPodFields[] = {"spec.containers", "spec.initContainers", "spec.volumes"};
constexpr std::string_view kPodSpecs[] = {"spec.template.spec", "spec.jobTemplate.spec.template.spec"};

std::string path_in(const Value& workload, const std::string& path) {
  const bool is_of_pod = std::ranges::any_of(kPodFields, [&](std::string_view field) {
    return path.starts_with(field) && (path.size() == field.size() || path[field.size()] == '[' || path[field.size()] == '.');
  });
  if (!is_of_pod) return path;
  for (const std::string_view spec : kPodSpecs) {
    if (workflow::look_up(workload, spec) != nullptr) return std::string(spec) + path.substr(std::string_view("spec").size());
  }
  return path;
}

}  // namespace

Result<Value> with_field(const Value& workload, const Value& field) {
  const std::string path = field["path"].str();
  auto changed = workflow::put(workload, path_in(workload, path), field["value"], true);
  if (changed) return changed;
  Status error = std::move(changed).error();
  error.message = fmt::format("patch.to.field {}: {}", path, error.message);
  return fail(std::move(error));
}

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

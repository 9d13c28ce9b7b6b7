#include "delivery/application/component_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
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
  std::map<std::string, std::size_t, std::less<>> places;  // by name, the first of each
  for (std::size_t i = 0; i < merged.size(); ++i) places.emplace(merged[i]["name"].as_string(), i);
  for (const Value& item : change.items()) {
    const auto [place, is_new] = places.emplace(item["name"].as_string(), merged.size());
    if (is_new) {
      merged.push_back(item);
    } else {
      merged[place->second] = merge_export(merged[place->second], item);
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
  json::ObjectBuilder merged;
  for (const auto& [key, value] : base.members()) {
    const Value* changed = change.find(key);
    if (changed == nullptr) merged.add(key, value);
    if (changed != nullptr && !changed->is_null()) merged.add(key, merge_export(value, *changed));
  }
  for (const auto& [key, value] : change.members()) {
    if (!value.is_null() && !base.has(key)) merged.add(key, merge_export({}, value));
  }
  return merged.build();
}

Value with_replicas(const Value& object, const Value& replicas) {
  return replicas.is_null() || object.is_null() ? object : object.with_path({"spec", "replicas"}, replicas);
}

}  // namespace slipway::delivery::application

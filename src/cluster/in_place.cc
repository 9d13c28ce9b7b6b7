#include "cluster/in_place.h"

#include <algorithm>

#include "cluster/names.h"
#include "json/patch.h"
#include "json/text.h"

namespace slipway::cluster {

namespace {

using json::Value;

const Value& status_of(const kube::Object& pod, const Value& container) {
  static const Value kNone;
  for (const Value& status : pod["status"]["containerStatuses"].items()) {
    if (status["name"] == container["name"]) return status;
  }
  return kNone;
}

/// A container of the image that the spec asks for has been started.
bool runs_its_images(const kube::Object& pod) {
  const auto containers = pod["spec"]["containers"].items();
  return std::ranges::all_of(containers, [&](const Value& container) {
    const Value& status = status_of(pod, container);
    return status["image"] == container["image"] && !status["imageID"].as_string().empty();
  });
}

bool has_gate(const kube::Object& pod) {
  const auto gates = pod["spec"]["readinessGates"].items();
  return std::ranges::any_of(gates, [](const Value& gate) { return gate["conditionType"].as_string() == kInPlaceReady; });
}

/// A template without what may change in place.
Value fixed_part(const Value& pod_template) {
  Value spec = pod_template["spec"];
  Value containers = spec["containers"];
  for (std::size_t i = 0; i < containers.size(); ++i) containers = containers.with_item(i, containers.item(i).without("image"));
  return spec.with("containers", containers);
}

Value merged_metadata(const Value& metadata, const Value& before, const Value& next) {
  Value merged = metadata;
  for (const char* map : {"labels", "annotations"}) {
    const auto or_empty = [](const Value& object) { return object.is_null() ? Value::empty_object() : object; };
    const Value patch = json::create_three_way_merge_patch(or_empty(before[map]), or_empty(next[map]), or_empty(metadata[map]));
    Value result = json::apply_merge_patch(or_empty(metadata[map]), patch);
    merged = result.empty() ? merged.without(map) : merged.with(map, std::move(result));
  }
  return merged;
}

std::string state_text(const kube::Object& pod, const Value& containers, const std::string& revision, Time now) {
  json::ObjectBuilder last;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value& container = containers.item(i);
    if (container["image"] == pod["spec"]["containers"].item(i)["image"]) continue;
    last.add(container["name"].str(), json::object({{"imageID", status_of(pod, container)["imageID"].str()}}));
  }
  return json::print(
      json::object({{"revision", revision}, {"updateTimestamp", to_rfc3339(now)}, {"lastContainerStatuses", last.build()}}));
}

}  // namespace

kube::Object with_in_place_gate(const kube::Object& pod) {
  if (has_gate(pod)) return pod;
  const Value gates = pod["spec"]["readinessGates"].appended(json::object({{"conditionType", kInPlaceReady}}));
  return pod.with_path({"spec", "readinessGates"}, gates).with_path({"metadata", "labels", kLifecycle}, kNormal);
}

std::optional<kube::Object> updated_in_place(const kube::Object& pod, const Value& before, const Value& next,
                                             const std::string& revision, Time now) {
  if (before.is_null() || fixed_part(before) != fixed_part(next)) return std::nullopt;
  Value containers = pod["spec"]["containers"];
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value& wanted = next["spec"]["containers"].item(i);
    if (wanted["image"] == before["spec"]["containers"].item(i)["image"]) continue;
    if (containers.item(i)["name"] != wanted["name"]) return std::nullopt;
    containers = containers.with_item(i, containers.item(i).with("image", wanted["image"]));
  }
  kube::Object updated = pod.with("metadata", merged_metadata(pod["metadata"], before["metadata"], next["metadata"]))
                             .with_path({"metadata", "labels", kRevisionHash}, revision)
                             .with_path({"spec", "containers"}, containers);
  if (!has_other_images(pod, updated)) return updated;
  return updated.with_path({"metadata", "labels", kLifecycle}, kUpdating)
      .with_path({"metadata", "annotations", kInPlaceState}, state_text(pod, containers, revision, now));
}

bool has_other_images(const kube::Object& pod, const kube::Object& updated) {
  return pod["spec"]["containers"] != updated["spec"]["containers"];
}

bool is_ready_in_place(const kube::Object& pod) {
  const auto state = kube::label(pod, kLifecycle);
  return (state.empty() || state == kNormal) && kube::is_true(pod, "Ready") &&
         (!has_gate(pod) || kube::is_true(pod, kInPlaceReady));
}

std::optional<InPlaceEnd> in_place_end(const kube::Object& pod) {
  const bool is_updating = kube::label(pod, kLifecycle) == kUpdating;
  if (is_updating && !runs_its_images(pod)) return std::nullopt;
  const InPlaceEnd end{has_gate(pod) && !kube::is_true(pod, kInPlaceReady), is_updating};
  return end.opens_gate || end.is_normal ? std::optional(end) : std::nullopt;
}

Value with_gate(const kube::Object& pod, bool is_open, Time now) {
  const kube::Condition condition{kInPlaceReady, is_open ? "True" : "False", is_open ? "" : "StartInPlaceUpdate", ""};
  return kube::set_condition(pod["status"]["conditions"], condition, now);
}

}  // namespace slipway::cluster

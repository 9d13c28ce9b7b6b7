#include "delivery/rollout/config_copies.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/digest.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using Rename = std::function<std::string(const ConfigReference&)>;

constexpr std::size_t kMaxName = 240;  // of the original, in a name of at most 253

/// `holder` is a member that names one: {name: …}, of a volume's secret {secretName: …}.
Value renamed_in(const Value& parent, const char* member, bool is_secret, const char* key, const Rename& rename) {
  const Value& holder = parent[member];
  const std::string name = holder[key].str();
  if (name.empty()) return parent;
  const std::string other = rename({.is_secret = is_secret, .name = name, .is_optional = holder["optional"].as_bool()});
  return other == name ? parent : parent.with(member, holder.with(key, other));
}

/// `list` with each item as `edit` makes it; the same value where nothing changes.
Value edited_list(const Value& parent, const char* list, const std::function<Value(const Value&)>& edit) {
  Value items = parent[list];
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Value made = edit(items.item(i));
    if (!made.is_same(items.item(i))) items = items.with_item(i, made);
  }
  return items.is_same(parent[list]) ? parent : parent.with(list, items);
}

Value container_with(const Value& container, const Rename& rename) {
  const Value made = edited_list(container, "envFrom", [&](const Value& one) {
    return renamed_in(renamed_in(one, "configMapRef", false, "name", rename), "secretRef", true, "name", rename);
  });
  return edited_list(made, "env", [&](const Value& one) {
    const Value& from = one["valueFrom"];
    const Value other =
        renamed_in(renamed_in(from, "configMapKeyRef", false, "name", rename), "secretKeyRef", true, "name", rename);
    return other.is_same(from) ? one : one.with("valueFrom", other);
  });
}

Value volume_with(const Value& volume, const Rename& rename) {
  const Value made = renamed_in(renamed_in(volume, "configMap", false, "name", rename), "secret", true, "secretName", rename);
  const Value projected = edited_list(made["projected"], "sources", [&](const Value& one) {
    return renamed_in(renamed_in(one, "configMap", false, "name", rename), "secret", true, "name", rename);
  });
  return projected.is_same(made["projected"]) ? made : made.with("projected", projected);
}

}  // namespace

std::vector<ConfigReference> config_references(const Value& pod_template) {
  std::set<ConfigReference> found;
  with_config_names(pod_template, [&](const ConfigReference& one) {
    ConfigReference other = one;
    other.is_optional = !one.is_optional;
    if (one.is_optional && found.contains(other)) return one.name;  // somewhere it is needed
    found.erase(other);
    found.insert(one);
    return one.name;
  });
  return {found.begin(), found.end()};
}

Value with_config_names(const Value& pod_template, const Rename& rename) {
  Value spec = pod_template["spec"];
  for (const char* list : {"initContainers", "containers"}) {
    spec = edited_list(spec, list, [&](const Value& one) { return container_with(one, rename); });
  }
  spec = edited_list(spec, "volumes", [&](const Value& one) { return volume_with(one, rename); });
  return spec.is_same(pod_template["spec"]) ? pod_template : pod_template.with("spec", spec);
}

bool is_config_copy(const kube::Object& config) { return !kube::annotation(config, kCopyOf).empty(); }

kube::Object config_copy(const kube::Object& config, const std::string& workload_id, const Value& owners) {
  const std::string name(kube::name(config));
  std::map<std::string, std::string> content{{"", workload_id + "\n" + name}};
  Value copy = Value().with("apiVersion", config["apiVersion"]).with("kind", config["kind"]);
  for (const char* part : {"type", "data", "binaryData"}) {
    if (!config.has(part)) continue;
    copy = copy.with(part, config[part]);
    content[part] = config[part].str();
    for (const auto [key, value] : config[part].members()) content[fmt::format("{}.{}", part, key)] = json::print(value);
  }
  std::string text;
  for (const auto& [key, value] : content) text += fmt::format("{}={}\n", key, value);
  std::string begin = name.substr(0, kMaxName);
  while (begin.ends_with('.') || begin.ends_with('-')) begin.pop_back();
  copy = copy.with("immutable", true)
             .with_path({"metadata", "name"}, fmt::format("{}-{}", begin, name_hash(text)))
             .with_path({"metadata", "namespace"}, std::string(kube::ns(config)))
             .with_path({"metadata", "annotations", kCopyOf}, name);
  return owners.empty() ? copy : copy.with_path({"metadata", "ownerReferences"}, owners);
}

}  // namespace slipway::delivery::rollout

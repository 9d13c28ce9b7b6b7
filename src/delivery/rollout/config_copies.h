// Immutable copies of the ConfigMaps and Secrets that a pod template refers to (rolloutPlan.snapshotConfig). The new version's
// template names copies, whose names follow from their content; so its pods keep the content that it was rolled out with
// whatever becomes of the originals, and when it is a source later, a revert brings that content back with its pods. A copy
// belongs to whom the workload's other parts belong to and is never changed. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "json/value.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

struct ConfigReference {
  bool is_secret = false;
  std::string name{};
  bool is_optional = false;  // pods start without it

  auto operator<=>(const ConfigReference&) const = default;
};

/// What containers take environments from and what volumes hold (projected ones too), each once, sorted. Pull secrets and the
/// account's tokens are not configuration.
std::vector<ConfigReference> config_references(const json::Value& pod_template);
/// The template with other names in these places.
json::Value with_config_names(const json::Value& pod_template,
                              const std::function<std::string(const ConfigReference&)>& rename);

/// An annotation of copies: the name of the original.
inline constexpr std::string_view kCopyOf = "rollout.slipway.dev/copy-of";
bool is_config_copy(const kube::Object& config);
/// The copy of a ConfigMap or Secret for that workload ("Deployment/web-v2"), `NAME-HASH`.
kube::Object config_copy(const kube::Object& config, const std::string& workload_id, const json::Value& owners);

}  // namespace slipway::delivery::rollout

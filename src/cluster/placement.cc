#include "cluster/placement.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::cluster {

namespace {

using json::Value;

bool tolerates(const Value& toleration, const Value& taint) {
  const std::string_view key = toleration["key"].as_string();
  const std::string_view effect = toleration["effect"].as_string();
  const bool is_exists = toleration["operator"].as_string() == "Exists";
  if (!effect.empty() && effect != taint["effect"].as_string()) return false;
  if (key.empty()) return is_exists;
  return key == taint["key"].as_string() && (is_exists || toleration["value"].as_string() == taint["value"].as_string());
}

bool is_tolerated(const kube::Object& pod, const Value& taint) {
  return std::ranges::any_of(pod["spec"]["tolerations"].items(),
                             [&](const Value& toleration) { return tolerates(toleration, taint); });
}

std::string unavailable(const std::string& why) {
  return fmt::format(
      "0/1 nodes are available: 1 node(s) {}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
      why);
}

}  // namespace

std::optional<std::string> placement_fault(const kube::Object& pod, const kube::Object& node) {
  static const Value kCordon = json::object({{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}});
  if (node.is_null()) return "no nodes available to schedule pods";
  const Value& spec = node["spec"];
  if (spec["unschedulable"].as_bool() && !is_tolerated(pod, kCordon)) return unavailable("were unschedulable");
  for (const Value& taint : spec["taints"].items()) {
    const std::string_view effect = taint["effect"].as_string();
    if ((effect != "NoSchedule" && effect != "NoExecute") || is_tolerated(pod, taint)) continue;
    return unavailable(fmt::format("had untolerated taint {{{}: {}}}", taint["key"].as_string(), taint["value"].as_string()));
  }
  return std::nullopt;
}

}  // namespace slipway::cluster

// Which node a pod may go to: the part of kube-scheduler that people rely on here (cordon, taints, selectors, affinity, room).
// Pods spread over the nodes that they may go to by number.
// DIVERGES: on a cluster of one node selectors, labels and room are not looked at, so that whatever is delivered runs there;
// preferences, spread constraints and resources are looked at nowhere, and running pods are not evicted by NoExecute.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

/// Effects of taints that keep new pods away.
inline constexpr std::array<std::string_view, 2> kKeepAway{"NoSchedule", "NoExecute"};

/// A node and how many pods are on it, or on their way there.
struct NodeLoad {
  kube::Object node;
  std::int64_t pods = 0;
};

/// Why the pod stays Pending, in the words of the scheduler; nullopt when it may go to one of the nodes.
std::optional<std::string> placement_fault(const kube::Object& pod, std::span<const NodeLoad> nodes);
/// The name of the node with the fewest pods of those that the pod may go to, the first among equals; empty when there is none.
std::string choose_node(const kube::Object& pod, std::span<const NodeLoad> nodes);

/// Whether nodeSelector and the required node affinity of a PodSpec name the node.
bool selects_node(const json::Value& pod_spec, const kube::Object& node);
/// The first taint of one of these effects (cordoning counts as NoSchedule) that `tolerations` do not tolerate; null: none.
json::Value untolerated_taint(const json::Value& tolerations, const kube::Object& node,
                              std::span<const std::string_view> effects);

/// The required node affinity that names this node and no other; the rest of `affinity` stays.
json::Value bound_to_node(const json::Value& affinity, std::string_view node);
/// The node that a pod is on, or that bound_to_node() has bound it to; empty: any.
std::string target_node(const kube::Object& pod);

}  // namespace slipway::cluster

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "delivery/application/policy.h"
#include "delivery/application/policy_properties.h"

namespace slipway::delivery::application {

namespace {

bool has_labels(const ClusterEntry& cluster, const std::map<std::string, std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const auto found = cluster.labels.find(label.first);
    return found != cluster.labels.end() && found->second == label.second;
  });
}

/// Names of the clusters that a topology chooses, in the order in which it, or the list of clusters, names them.
Result<std::vector<std::string>> chosen(const PolicySpec& policy, const TopologyProperties& topology,
                                        const std::vector<ClusterEntry>& clusters) {
  if (!topology.clusters && !topology.cluster_label_selector) return std::vector<std::string>{kHub};
  std::vector<std::string> names;
  if (topology.clusters) {
    for (const std::string& name : *topology.clusters) {
      if (!contains(clusters, name, &ClusterEntry::name)) {
        return fail(Reason::Invalid, fmt::format("topology policy {}: there is no cluster {}", policy.name, name));
      }
      names.push_back(name);
    }
  } else {
    for (const ClusterEntry& cluster : clusters) {
      if (has_labels(cluster, *topology.cluster_label_selector)) names.push_back(cluster.name);
    }
  }
  if (names.empty() && !topology.may_be_empty) {
    return fail(Reason::Invalid,
                topology.clusters
                    ? fmt::format("topology policy {}: clusters is empty", policy.name)
                    : fmt::format("topology policy {}: no cluster has the labels of clusterLabelSelector", policy.name));
  }
  return names;
}

}  // namespace

Result<std::vector<Placement>> placements(const std::vector<PolicySpec>& topologies,
                                          const std::vector<ClusterEntry>& clusters) {
  if (topologies.empty()) return std::vector<Placement>{{.cluster = kHub, .ns = ""}};
  std::vector<Placement> made;
  for (const PolicySpec& policy : topologies) {
    if (policy.properties.is_null()) {
      return fail(Reason::Invalid, fmt::format("topology policy {}: properties must not be empty", policy.name));
    }
    SLIPWAY_TRY(topology, read_properties<TopologyProperties>(policy));
    SLIPWAY_TRY(names, chosen(policy, topology, clusters));
    for (const std::string& name : names) {
      Placement placement{.cluster = name, .ns = topology.ns};
      if (!contains(made, placement)) made.push_back(std::move(placement));
    }
  }
  return made;
}

}  // namespace slipway::delivery::application

// What every cluster has from its start beside namespaces and rights: the Service of the API server, the node that pods run on,
// the priorities of the system (k8s.io/kubernetes pkg/controlplane, pkg/registry/scheduling).
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "json/value.h"
#include "kube/resource.h"

namespace slipway::server {

struct BootstrapObject {
  kube::Resource resource;
  std::string ns;  // empty: cluster-scoped
  json::Value object;
};

/// In the order of creation; namespaces are there before. `nodes`: how many, at least one.
std::vector<BootstrapObject> bootstrap_objects(Random& random, std::size_t nodes);

/// Endpoints and EndpointSlice of Service kubernetes, as they are applied.
std::vector<BootstrapObject> api_endpoints(const std::string& address, std::uint16_t port);

/// The node with what an older start has left out of status.nodeInfo; the same value when nothing is missing.
json::Value with_node_info(const json::Value& node, Random& random);

}  // namespace slipway::server

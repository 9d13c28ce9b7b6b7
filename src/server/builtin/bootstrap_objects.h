// What every cluster has from its start beside namespaces and rights: the Service of the API server, the node that pods run on,
// the priorities of the system (k8s.io/kubernetes pkg/controlplane, pkg/registry/scheduling).
#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "kube/resource.h"

namespace slipway::server {

struct BootstrapObject {
  kube::Resource resource;
  std::string ns;  // empty: cluster-scoped
  json::Value object;
};

/// In the order of creation; namespaces are there before.
std::vector<BootstrapObject> bootstrap_objects();

}  // namespace slipway::server

// The clusters of a hub as cluster-gateway shows them, so that KubeVela's clients find them: VirtualCluster and ClusterGateway
// of cluster.core.oam.dev/v1alpha1, made out of the cluster Secrets (cluster_secret.h) for each request, and the
// APIService by which those clients learn in which namespace the Secrets are. All are only read. Follows
// oam-dev/cluster-gateway pkg/apis/cluster/v1alpha1.
//
// DIVERGES: a ClusterGateway tells the kind of a cluster's credential, never the credential. The only APIService is the one of
// this group.
#pragma once

#include <vector>

#include "client/served.h"

namespace slipway::fleet {

/// What the server answers for beside its stored kinds.
std::vector<client::AnsweredKind> cluster_kinds();

}  // namespace slipway::fleet

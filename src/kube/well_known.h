// Resources that several rooms name, in the version they are used in. What is named in one place only stays there.
#pragma once

#include "kube/resource.h"

namespace slipway::kube {

// The core group.
inline const Resource kPods{"", "v1", "pods"};
inline const Resource kServices{"", "v1", "services"};
inline const Resource kConfigMaps{"", "v1", "configmaps"};
inline const Resource kSecrets{"", "v1", "secrets"};
inline const Resource kNamespaces{"", "v1", "namespaces"};
inline const Resource kEvents{"", "v1", "events"};
inline const Resource kClaims{"", "v1", "persistentvolumeclaims"};
inline const Resource kServiceAccounts{"", "v1", "serviceaccounts"};

// Workloads.
inline const Resource kJobs{"batch", "v1", "jobs"};
inline const Resource kDeployments{"apps", "v1", "deployments"};
inline const Resource kReplicaSets{"apps", "v1", "replicasets"};
inline const Resource kBudgets{"policy", "v1", "poddisruptionbudgets"};

// Definitions, access, leases.
inline const Resource kDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
inline const Resource kRoles{"rbac.authorization.k8s.io", "v1", "roles"};
inline const Resource kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};
inline const Resource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
inline const Resource kClusterRoleBindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings"};
inline const Resource kLeases{"coordination.k8s.io", "v1", "leases"};

}  // namespace slipway::kube

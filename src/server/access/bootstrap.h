// The roles and bindings that every cluster has from its beginning (k8s.io/kubernetes
// plugin/pkg/auth/authorizer/rbac/bootstrappolicy). DIVERGES: the roles of components that are not here (kubelet, scheduler,
// controller manager and its controllers) are left out; Slipway's own kinds are in admin, edit and view.
#pragma once

#include <vector>

#include "json/value.h"

namespace slipway::server {

/// ClusterRole objects; those that aggregate have their rules already.
std::vector<json::Value> bootstrap_roles();
/// ClusterRoleBinding objects.
std::vector<json::Value> bootstrap_bindings();

/// The rules that a ClusterRole with an aggregationRule has, given all ClusterRoles in order of their names: those of the
/// roles it selects, each rule once.
json::Value aggregated_rules(const json::Value& role, const std::vector<json::Value>& roles);

}  // namespace slipway::server

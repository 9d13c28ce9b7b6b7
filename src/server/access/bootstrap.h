// The roles and bindings that every cluster has from its beginning (k8s.io/kubernetes
// plugin/pkg/auth/authorizer/rbac/bootstrappolicy). DIVERGES: the roles of components that are not here (kubelet, scheduler,
// controller manager and its controllers) are left out; the groups that the server is made with are in admin, edit and view.
#pragma once

#include <string>
#include <vector>

#include "client/served.h"
#include "json/value.h"

namespace slipway::server {

/// ClusterRole objects in order of their names; those that aggregate have their rules already. For each of `own_groups` there
/// is a role that adds writing to `edit` and one that adds reading to `view`: of their own, so that a cluster that was made
/// before a group existed gets them at its next start. Of `guarded_groups` writing is in `admin` only. An entry there may be
/// one subresource of an own group, "GROUP/RESOURCE/SUBRESOURCE": `edit` then writes the other resources of that group's
/// `answered` kinds, and the role RESOURCE-SUBRESOURCE writes this one; `admin` has both. REQUIRES: such a group has answered
/// kinds only.
std::vector<json::Value> bootstrap_roles(const std::vector<std::string>& own_groups,
                                         const std::vector<std::string>& guarded_groups,
                                         const std::vector<client::AnsweredKind>& answered = {});
/// Whether the role of a cluster has the rules that an earlier Slipway gave it for a group which has guarded parts now: all
/// writing in the group. `wanted` is the role of the same name as it begins today.
bool is_before_guards(const json::Value& role, const json::Value& wanted);
/// ClusterRoleBinding objects.
std::vector<json::Value> bootstrap_bindings();

/// The rules that a ClusterRole with an aggregationRule has, given all ClusterRoles in order of their names: those of the
/// roles it selects, each rule once.
json::Value aggregated_rules(const json::Value& role, const std::vector<json::Value>& roles);

}  // namespace slipway::server

// Users may not grant what they do not have: checks on writes of roles and bindings (k8s.io/kubernetes
// pkg/registry/rbac/*/policybased). The verbs "escalate" on a role and "bind" on the role a binding refers to lift them.
#pragma once

#include "kube/object.h"
#include "kube/resource.h"
#include "kube/user.h"
#include "server/access/authorizer.h"

namespace slipway::server {

/// Forbidden, naming the rules that `user` lacks. `old` is null for a create. Kinds other than roles and bindings pass.
/// NotFound when a binding is to a role that does not exist.
Result<void> check_escalation(Authorizer& authorizer, const kube::UserInfo& user, const kube::Resource& resource,
                              const kube::Object& object, const kube::Object& old);

}  // namespace slipway::server

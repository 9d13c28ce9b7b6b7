// What a server keeps true by itself: the bootstrap roles and bindings, the rules of roles that aggregate, a ServiceAccount
// `default` and a ConfigMap `kube-root-ca.crt` in every namespace, where Service kubernetes leads, the status of definitions
// that waited for a name. Each is looked at when the process starts and after every write that may concern it, before that
// write is answered; a crash in between is made good by the next start. (Upstream has controllers for this.)
#pragma once

#include "base/task.h"
#include "kube/resource.h"
#include "server/context.h"

namespace slipway::server {

/// Creates what is missing, all of one sort in one append.
Task<Result<void>> begin_upkeep(ServerContext& context);
/// After objects of a resource have become durable in a new state: those of one namespace (of Namespaces: the one named `ns`),
/// or, with "", perhaps of all.
Task<> keep_up(ServerContext& context, kube::Resource resource, std::string ns);

}  // namespace slipway::server

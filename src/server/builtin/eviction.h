// pods/eviction (policy/v1) and pods/binding: deleting a pod as its disruption budget allows, and giving one a node
// (k8s.io/kubernetes pkg/registry/core/pod/storage).
#pragma once

#include "base/task.h"
#include "client/client.h"

namespace slipway::server {

struct ServerContext;

/// 201 when the pod is going; TooManyRequests with a cause DisruptionBudget when the budget does not allow it now.
Task<Result<client::Reply>> evict_pod(ServerContext& context, client::Request request);
/// 201 when the pod has its node; Conflict when it had one.
Task<Result<client::Reply>> bind_pod(ServerContext& context, client::Request request);

}  // namespace slipway::server

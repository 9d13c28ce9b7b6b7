// vela/query (and vela/ql): what steps may ask about an application: the objects it made, the tree below them, its Pods,
// Services and where they are reached (kubevela/kubevela pkg/workflow/providers/query). An application is known by its
// trackers; a cluster that does not answer leaves its objects out of `list` and is named in `err`.
#pragma once

#include <vector>

#include "delivery/application/app_run.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::application {

/// Rows for one reconcile; `run` outlives them.
std::vector<workflow::Provider> query_providers(AppRun& run);

/// Endpoints of a Service or an Ingress, {protocol, appProtocol, host, port, portName, path, inner}; nothing for other kinds.
/// `node_address`: where node ports are reached.
std::vector<Value> endpoints_of(const Value& object, const std::string& node_address);

}  // namespace slipway::delivery::application

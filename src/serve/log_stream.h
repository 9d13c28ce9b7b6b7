// GET pods/NAME/log: the bytes of a container's log, the last lines of it, or all and what follows until the container has
// ended (v1 PodLogOptions; k8s.io/kubernetes pkg/registry/core/pod/rest/log.go). A log is read piece by piece, so that neither
// a large one nor a slow reader is held in memory. Pods that are simulated print nothing: their log is empty.
#pragma once

#include <memory>

#include "base/env.h"
#include "serve/call.h"
#include "server/pod_backend.h"
#include "server/server.h"

namespace slipway::serve {

/// Invalid or BadRequest for options or containers that make no sense.
/// DIVERGES: the time of a line is that of the look that saw it (os/log_times.h): milliseconds late, of a busy log up to 1 s.
Task<Result<http::Response>> log_response(Env& env, server::Server& server, server::PodBackend* pods, Call call);

}  // namespace slipway::serve

// The paths that are no resources: discovery, version, health, and the index of all of them.
#pragma once

#include "base/env.h"
#include "serve/call.h"
#include "server/server.h"

namespace slipway::serve {

/// NotFound, MethodNotAllowed, NotAcceptable.
Result<http::Response> path_response(Env& env, server::Server& server, const Call& call);

/// version.Info.
json::Value version_info();

}  // namespace slipway::serve

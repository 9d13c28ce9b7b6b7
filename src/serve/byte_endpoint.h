// The subresources through which bytes flow: pods/log, exec, attach, portforward. Who asks was not looked at before.
#pragma once

#include "base/env.h"
#include "net/server.h"
#include "serve/call.h"
#include "server/pod_backend.h"
#include "server/server.h"

namespace slipway::serve {

/// Forbidden unless the user may; NotImplemented for what no runtime here offers.
Task<Result<net::Answer>> answer_bytes(Env& env, server::Server& server, server::PodBackend* pods, Call call,
                                       client::Verb verb);

}  // namespace slipway::serve

// The subresources through which bytes flow: pods/log, exec, attach, portforward.
#pragma once

#include "base/env.h"
#include "net/server.h"
#include "serve/call.h"
#include "server/pod_backend.h"
#include "server/server.h"

namespace slipway::serve {

/// The verb that a user must have on such a subresource. exec and attach are a create whatever the method (WebSockets begin
/// with a GET): whoever may only read pods must not run commands in them.
client::Verb authorized_verb(std::string_view subresource, client::Verb verb);

/// NotImplemented for what no runtime here offers. REQUIRES: the user may do authorized_verb().
Task<Result<net::Answer>> answer_bytes(Env& env, server::Server& server, server::PodBackend* pods, Call call);

}  // namespace slipway::serve

// pods/NAME/exec and attach over a WebSocket (subprotocols v5 and v4.channel.k8s.io): binary messages whose first byte is the
// channel, 0 input, 1 what the command prints, 2 its errors, 3 at the end a Status with its exit code, 4 the size of a
// terminal, 255 (in v5) the end of a channel.
#pragma once

#include "base/env.h"
#include "net/server.h"
#include "serve/call.h"
#include "server/pod_backend.h"
#include "server/server.h"

namespace slipway::serve {

/// REQUIRES: the user may. BadRequest without a command or a running container; NotImplemented for SPDY.
/// DIVERGES: an attached container without a terminal shows its errors on channel 1 too: its log has both.
Task<Result<net::Answer>> answer_exec(Env& env, server::Server& server, server::PodBackend* pods, Call call);

/// What channel 3 says of a command that has ended.
json::Value exit_status(int exit_code);

}  // namespace slipway::serve

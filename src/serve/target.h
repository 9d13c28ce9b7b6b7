// From a route to the request that the server understands: whether the resource is served there, and with which verbs.
#pragma once

#include "client/client.h"
#include "serve/call.h"
#include "server/endpoint.h"
#include "server/registry.h"

namespace slipway::serve {

struct Target {
  server::TypePtr type;                        // of the answer
  const server::Endpoint* endpoint = nullptr;  // beside plain objects
};

/// NotFound when nothing is served at this path, MethodNotAllowed when not with this verb.
Result<Target> target_of(const server::Registry& registry, const Route& route, client::Verb verb);

/// The request with what its authorization looks at: all but its body and most query parameters.
client::Request request_of(const Call& call, client::Verb verb);

}  // namespace slipway::serve

// Bodies of requests as values: JSON, YAML or protobuf by Content-Type, and what a PATCH's media type says.
#pragma once

#include "client/client.h"
#include "serve/call.h"

namespace slipway::serve {

/// Fills body (and patch_type) of `request` from what was sent. BadRequest, UnsupportedMediaType.
Result<void> read_body(const http::Request& http, client::Request& request);

}  // namespace slipway::serve

// Bodies of requests as values: JSON, YAML or protobuf by Content-Type, and what a PATCH's media type says.
#pragma once

#include "client/client.h"
#include "serve/call.h"

namespace slipway::serve {

/// Fills body (and patch_type) of `request` from what was sent. `kind` is what the path takes, for a protobuf body that does
/// not say. BadRequest, UnsupportedMediaType.
Result<void> read_body(const http::Request& http, const kube::GroupVersionKind& kind, client::Request& request);

}  // namespace slipway::serve

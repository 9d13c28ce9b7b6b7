// Bodies of requests as values: JSON, YAML or protobuf by Content-Type, and what a PATCH's media type says.
#pragma once

#include "client/client.h"
#include "serve/call.h"

namespace slipway::serve {

/// What a path takes.
struct Taken {
  kube::GroupVersionKind kind;
  bool says_kind = true;  // a body must have apiVersion and kind: those of custom resources; others get what is missing
};

/// Fills body (and patch_type) of `request` from what was sent; of doubled keys the last one counts. Gives the paths of these.
/// BadRequest, UnsupportedMediaType.
Result<std::vector<std::string>> read_body(const http::Request& http, const Taken& taken, client::Request& request);

/// Judges doubled keys by the request's fieldValidation: Strict is BadRequest, Warn (the default) gives warnings, Ignore none.
Result<std::vector<std::string>> judge_doubled(std::vector<std::string> doubled, const Taken& taken,
                                               const client::Request& request);

}  // namespace slipway::serve

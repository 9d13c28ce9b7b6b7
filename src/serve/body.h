// Bodies of requests as values: JSON, YAML or protobuf by Content-Type, and what a PATCH's media type says. Reading takes time
// that grows with the text alone (sorting its keys included), whatever stands in it; what takes more than about a millisecond
// is read on the compute lane, so that no other waits for it. To be called only when it is known that the user may make the
// request and that there is room for it.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "client/client.h"
#include "serve/call.h"

namespace slipway::serve {

/// What a path takes.
struct Taken {
  kube::GroupVersionKind kind;
  bool says_kind = true;  // a body must have apiVersion and kind: those of custom resources; others get what is missing
};

/// What a client sent as the body of a write.
struct SentBody {
  client::Verb verb = client::Verb::Create;
  std::string content_type;
  std::string text;
};

struct Body {
  json::Value value{};                                      // null when there is none, which only a delete may have
  client::PatchType patch_type = client::PatchType::Merge;  // of a patch
  /// Paths of doubled keys, of which the last one counts, at most json::kMostDoubled.
  std::vector<std::string> doubled{};
};

/// BadRequest, UnsupportedMediaType, RequestEntityTooLarge.
Task<Result<Body>> read_body(Env& env, SentBody sent, Taken taken);
/// The same at once, on this thread.
Result<Body> parse_body(const SentBody& sent, const Taken& taken);

/// Judges doubled keys by the request's fieldValidation: Strict is BadRequest, Warn (the default) gives warnings, Ignore none.
Result<std::vector<std::string>> judge_doubled(std::vector<std::string> doubled, const Taken& taken,
                                               const client::Request& request);

}  // namespace slipway::serve

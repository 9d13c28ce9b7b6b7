#include "sim/web.h"

#include <fmt/format.h>

namespace slipway::sim {

Task<Result<http::Response>> Web::send(HttpCall call) {
  const std::string what = fmt::format("HTTP {} {}", call.method, call.url);
  if (!gate_.pass(Moment::BeforeSend, what, true)) co_return fail(Reason::ServiceUnavailable, "connection refused");
  Asked& asked = asked_[std::string(call.headers.get("Idempotency-Key"))];
  ++asked.tries;
  asked.status = call.url.ends_with("/never") ? 403 : call.url.ends_with("/late") && asked.tries == 1 ? 503 : 200;
  http::Response response{.status = asked.status};
  if (!gate_.pass(Moment::AfterEffect, what, true)) co_return fail(Reason::Timeout, "no answer");
  co_return response;
}

int Web::answered(const std::string& key) const {
  int status = 0;
  for (const auto& [asked, answer] : asked_) {
    if (asked.ends_with("/" + key)) status = answer.status;
  }
  return status;
}

}  // namespace slipway::sim

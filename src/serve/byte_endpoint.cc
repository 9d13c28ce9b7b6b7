#include "serve/byte_endpoint.h"

#include <fmt/format.h>

#include "serve/exec_stream.h"
#include "serve/log_stream.h"
#include "serve/target.h"

namespace slipway::serve {
namespace {

/// exec and attach are authorized as a create whatever the method (WebSockets begin with a GET): whoever may only read pods
/// must not run commands in them.
client::Verb authorized_verb(const std::string& subresource, client::Verb verb) {
  return subresource == "log" ? verb : client::Verb::Create;
}

}  // namespace

Task<Result<net::Answer>> answer_bytes(Env& env, server::Server& server, server::PodBackend* pods, Call call,
                                       client::Verb verb) {
  const std::string subresource = call.route.subresource;
  const client::Request request = request_of(call, authorized_verb(subresource, verb));
  SLIPWAY_CO_TRY_VOID(server.authorize(call.user, server::Attributes::of(request)));
  if (subresource == "log") {
    SLIPWAY_CO_TRY(response, co_await log_response(env, server, pods, std::move(call)));
    co_return net::Answer(std::move(response));
  }
  if (subresource == "exec" || subresource == "attach") co_return co_await answer_exec(env, server, pods, std::move(call));
  co_return fail(Reason::NotImplemented, fmt::format("{}/{} is not implemented", request.resource.plural, subresource));
}

}  // namespace slipway::serve

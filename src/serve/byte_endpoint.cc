#include "serve/byte_endpoint.h"

#include <fmt/format.h>

#include "serve/exec_stream.h"
#include "serve/log_stream.h"

namespace slipway::serve {

client::Verb authorized_verb(std::string_view subresource, client::Verb verb) {
  return subresource == "log" ? verb : client::Verb::Create;
}

Task<Result<net::Answer>> answer_bytes(Env& env, server::Server& server, server::PodBackend* pods, Call call) {
  const std::string subresource = call.route.subresource;
  if (subresource == "log") {
    SLIPWAY_CO_TRY(response, co_await log_response(env, server, pods, std::move(call)));
    co_return net::Answer(std::move(response));
  }
  if (subresource == "exec" || subresource == "attach") co_return co_await answer_exec(env, server, pods, std::move(call));
  co_return fail(Reason::NotImplemented, fmt::format("{}/{} is not implemented", call.route.resource.plural, subresource));
}

}  // namespace slipway::serve

// The paths of families alone, over any client: what `slipway controller --webhook-listen` answers, where the API server is
// another project's and knows no such paths. Only paths that anyone may call are served, since no client is authenticated here;
// each judges a signature itself. /healthz says that the process is there. Errors are Status objects, as everywhere.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/env.h"
#include "client/served.h"
#include "net/server.h"
#include "serve/source_limit.h"

namespace slipway::serve {

/// Of requests to paths that anyone may call, how much of a body an HTTP server reads (net::ServerOptions::body_limit): nothing
/// without the signature's header. Paths below "/clusters/NAME" count as those of the cluster itself.
std::function<Result<std::uint64_t>(const net::MessageHead&)> body_limit_of(std::vector<client::HttpPath> paths);

class FamilyPaths {
 public:
  /// What is asked at once beyond this is answered 429.
  static constexpr std::size_t kInFlight = 200;

  /// `client` must outlive the last answer.
  FamilyPaths(Env& env, client::Client& client, std::vector<client::HttpPath> paths);

  Task<net::Answer> answer(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection);

 private:
  Task<Result<http::Response>> response(http::Request request, std::string source);

  Env& env_;
  client::Client& client_;
  std::vector<client::HttpPath> paths_;
  std::size_t in_flight_ = 0;
  SourceLimit strangers_{};
};

}  // namespace slipway::serve

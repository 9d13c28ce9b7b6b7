// The server behind an APIService of a cluster elsewhere: answers the requests that the cluster's API server passes on, for
// users whom that has authenticated (front_proxy.h) and whom the cluster allows it (a SubjectAccessReview for each request, but
// for system:masters). Beside its group only discovery, OpenAPI and the version are there; /healthz, /livez and /readyz are
// anyone's.
#pragma once

#include <memory>
#include <string>

#include "serve/api.h"
#include "serve/front_proxy.h"

namespace slipway::serve {

class Aggregated {
 public:
  /// `server` serves the group over `cluster` (server::Options::behind); both outlive the last answer.
  Aggregated(Env& env, server::Server& server, client::Client& cluster, FrontProxy proxy, std::string group);

  Task<net::Answer> answer(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection);

 private:
  /// What may be answered: with its user, allowed.
  Task<Result<Call>> admitted(Call call, std::shared_ptr<const net::ConnectionInfo> connection);

  client::Client& cluster_;
  FrontProxy proxy_;
  std::string group_;
  Api api_;
};

}  // namespace slipway::serve

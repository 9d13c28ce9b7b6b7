// One request as it goes through this room: what HTTP said, what its path means and who asks.
#pragma once

#include <memory>
#include <string>

#include "base/http.h"
#include "kube/user.h"
#include "net/http.h"
#include "serve/route.h"

namespace slipway::serve {

struct Call {
  http::Request http{};
  Route route{};  // of the path below the cluster's root
  net::Query query{};
  std::shared_ptr<const kube::UserInfo> user{};
  std::string server_address{};  // as the client named it: the Host header
  std::string source{};          // its address, without a port
};

}  // namespace slipway::serve

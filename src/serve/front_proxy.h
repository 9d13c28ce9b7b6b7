// Who asks, where another API server passes requests on (an APIService): it shows the client certificate of its cluster's front
// proxy and says in headers who the user is. The ConfigMap extension-apiserver-authentication of kube-system has the proxy's
// authority and the names of the headers (k8s.io/apiserver/pkg/authentication/request/headerrequest).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/http.h"
#include "kube/object.h"
#include "kube/user.h"
#include "net/server.h"

namespace slipway::serve {

inline const kube::ObjectKey kFrontProxyConfig{"kube-system", "extension-apiserver-authentication"};

struct FrontProxy {
  std::string authority_pem{};
  std::vector<std::string> allowed_names{};  // common names of its certificate; empty: any
  std::vector<std::string> user_headers{};
  std::vector<std::string> uid_headers{};
  std::vector<std::string> group_headers{};
  std::vector<std::string> extra_prefixes{};  // "X-Remote-Extra-"
};

/// BadRequest when the ConfigMap has no authority, no header for users, or a list that cannot be read.
Result<FrontProxy> read_front_proxy(const json::Value& config_map);

/// Unauthorized unless the connection is the front proxy's, and names a user. Everyone whom it names has been authenticated.
Result<std::shared_ptr<const kube::UserInfo>> user_of(const FrontProxy& proxy, const net::ConnectionInfo& connection,
                                                      const http::Headers& headers);

}  // namespace slipway::serve

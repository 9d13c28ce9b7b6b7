// The one listener in front of all clusters of a process: finds the cluster by the path's prefix (/clusters/NAME/…; a cluster
// without a name is at the root), finds out who asks, and gives every answer the headers that all have. Not a floor of its own:
// it only joins Api's.
//
// A cluster of the process is also reached through another one, by the path of KubeVela's cluster-gateway
// (…/clustergateways/NAME/proxy/…): whoever asks has the rights there that they have in the cluster behind.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "serve/api.h"

namespace slipway::serve {

class Gateway {
 public:
  explicit Gateway(Env& env) : env_(env) {}

  /// `name` empty: at the root. The first one also answers what is of the process (health, version, metrics) at a root where no
  /// cluster is. REQUIRES: before the first request.
  void add(const std::string& name, std::shared_ptr<Api> api);
  Task<net::Answer> answer(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection);

  /// The path below which a cluster's API is: "", "/clusters/dev".
  static std::string root_of(std::string_view name);

 private:
  Task<net::Answer> answer_below(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection);

  Env& env_;
  std::map<std::string, std::shared_ptr<Api>, std::less<>> clusters_;
  std::string first_;
};

}  // namespace slipway::serve

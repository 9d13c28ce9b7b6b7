// The Client over HTTP, for any Kubernetes API server. One per server and user.
//
// What is tried again here: an answer 429 (the server has done nothing) after its Retry-After; a read that found no connection,
// or got 5xx with Retry-After; once more with fresh credentials after 401. A write that may have happened is never sent twice:
// its caller reads first. After k8s.io/client-go/rest.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/http_client.h"
#include "client/client.h"
#include "remote/credential.h"
#include "remote/kubeconfig.h"

namespace slipway::net {
class WebSocket;
}

namespace slipway::remote {

class RemoteClient : public client::Client {
 public:
  /// Makes the transport that shows a credential's certificate (its token is added here).
  using Transports = std::function<Result<std::shared_ptr<HttpClient>>(const Credential& credential)>;

  RemoteClient(Env& env, Connection connection, CredentialSource::Options credentials, Transports transports);
  /// Over sockets (net/client.h).
  static Transports over_sockets(Env& env, Connection connection);

  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

  /// A document beside resources: "/version".
  Task<Result<client::Reply>> get_path(std::string path);
  /// One that is no JSON, whole: the log of a container.
  Task<Result<std::string>> get_text(std::string path);
  /// A WebSocket there: exec. NotImplemented where the transport is not one over sockets.
  Task<Result<std::shared_ptr<net::WebSocket>>> open_websocket(std::string path, std::vector<std::string> subprotocols);

 private:
  Task<Result<http::Response>> send(HttpCall call);
  /// An answer by `deadline`, or Timeout.
  Task<Result<client::Reply>> try_until_answered(HttpCall call, Steady deadline);
  Result<void> renew_transport(const Credential& credential);
  void add_identity(HttpCall& call, const Credential& credential) const;

  Env& env_;
  Connection connection_;
  CredentialSource credentials_;
  Transports transports_;
  Credential shown_{};  // by the transport
  std::shared_ptr<HttpClient> transport_{};
};

}  // namespace slipway::remote

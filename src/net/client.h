// HttpClient over sockets: HTTP/1.1 with kept connections, TLS, an HTTP proxy (CONNECT for https), answers whole or streamed,
// and WebSockets. One client holds one set of credentials; make one per server that is trusted differently.
//
// A kept connection that turns out dead is replaced once, for GET and HEAD unnoticed by the caller; other methods only when
// the death was seen before anything was sent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/http_client.h"
#include "net/http_parser.h"
#include "net/stream.h"
#include "net/websocket.h"

namespace slipway::net {

struct ClientOptions {
  TlsClientOptions tls{};
  std::string bearer_token{};  // for calls without an Authorization header
  std::string proxy_url{};     // http://[user:password@]host:port; empty: none
  std::string user_agent = "slipway/" SLIPWAY_VERSION;
  /// Of an answer: its head, and its body when it is not streamed.
  MessageLimits message{.header_bytes = 256 * 1024, .body_bytes = std::uint64_t{256} << 20};
  std::size_t connections = 512;      // at once; further calls wait, within their time-out
  std::size_t idle_connections = 32;  // kept per server
  Duration idle_timeout = std::chrono::seconds{60};
  Duration connect_timeout = std::chrono::seconds{10};
  Duration write_stall = std::chrono::seconds{30};
  WebSocketOptions websocket{};
  /// Which servers may be called, proxies apart; null: any. Outlives the client.
  const AddressPolicy* addresses = nullptr;
};

class Client : public HttpClient {
 public:
  /// BadRequest when certificates or the proxy's URL cannot be read.
  static Result<std::unique_ptr<Client>> make(Env& env, ClientOptions options);
  ~Client() override;

  Task<Result<http::Response>> send(HttpCall call) override;
  /// Opens a WebSocket at an http(s) URL. When the server answers otherwise the Status has its code's reason and its body (up
  /// to 1,000 bytes) as message. NotAcceptable when the server chose a subprotocol that was not offered.
  Task<Result<std::shared_ptr<WebSocket>>> open_websocket(HttpCall call, std::vector<std::string> subprotocols);

  /// Closes kept connections; calls in work go on.
  void close_idle();
  std::size_t idle_connections() const;
  /// Connections made so far.
  std::uint64_t connections_made() const;

  struct State;

 private:
  explicit Client(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace slipway::net

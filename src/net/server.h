// An HTTP/1.1 server over TCP or TLS. One coroutine per connection answers its requests in order (pipelined ones wait their
// turn); a body or a head that does not arrive in time, or is too large, ends the connection with an answer that says so. Idle
// connections hold no buffers. HTTP/1.0 is refused with 400.
//
// Everything runs on the Env's executor. Take a server down with stop() and the end of run(), or drop its world
// (RealEnv::shut()) before destroying it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/http.h"
#include "net/http_parser.h"
#include "net/stream.h"
#include "net/websocket.h"

namespace slipway::net {

struct ServerLimits {
  MessageLimits message{};                                    // beyond: 431 and 413
  std::size_t connections = 20'000;                           // beyond: the longest idle one is closed, or the newcomer
  std::uint64_t bodies_in_flight = std::uint64_t{512} << 20;  // bytes of all request bodies at once; beyond: 429
  Duration header_timeout = std::chrono::seconds{10};         // handshake; from the first byte of a head to its last: 408
  Duration body_timeout = std::chrono::seconds{60};           // from the end of the head: 408
  Duration idle_timeout = std::chrono::seconds{180};          // between requests
  Duration write_stall = std::chrono::seconds{30};            // a reader that takes nothing
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  unsigned short port = 0;  // any
  std::optional<TlsContext> tls{};
  ServerLimits limits{};
  WebSocketOptions websocket{};
  /// By its head, how many bytes of a request's body are taken (at most those of `limits`), or the refusal of the request, of
  /// whose body nothing is read then. Empty: those of `limits`.
  std::function<Result<std::uint64_t>(const MessageHead&)> body_limit{};
};

/// What a handler may know of who asks.
struct ConnectionInfo {
  std::string peer_address;  // "127.0.0.1:4711"
  bool is_tls = false;
  PeerCertificate certificate;  // an empty sha256: none was shown
};

/// An answer to a request for which websocket_offer() is not empty. `run` has the connection until it returns; then it is
/// closed with CloseCode::normal, unless that was done.
struct Upgrade {
  std::string subprotocol;  // one of the offered; empty: none
  std::move_only_function<Task<>(std::shared_ptr<WebSocket>)> run;
};

/// A response with `stream` is sent in chunks, each piece at once; the stream is closed when the client goes away or the server
/// stops. If it ends with a Status the connection is cut, so that the client cannot take the part for the whole.
using Answer = std::variant<http::Response, Upgrade>;
using Handler = std::function<Task<Answer>(http::Request, std::shared_ptr<const ConnectionInfo>)>;

class HttpServer {
 public:
  /// Listens from here on; connections wait until run().
  static Result<std::unique_ptr<HttpServer>> listen(Env& env, ServerOptions options);
  ~HttpServer();

  /// Serves until stop(), and returns when the last connection has ended.
  Task<> run(Handler handler);
  /// Accepts no more, closes idle connections and streams; requests that are being answered have `grace`.
  void stop(Duration grace);

  unsigned short port() const;
  /// "127.0.0.1:4711"
  std::string address() const;
  std::size_t connections() const;
  std::size_t idle_connections() const;

  struct State;

 private:
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::net

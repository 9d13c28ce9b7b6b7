// One WebSocket connection (RFC 6455), server or client side. Pings are answered while a reader reads; a reader that hears
// nothing for the ping interval asks, and gives up after another one. One reader at a time; any number of writers, their
// messages keep whole. The object outlives its reads, writes and closing: whoever starts them as children joins them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http.h"
#include "net/stream.h"
#include "net/websocket_frame.h"

namespace slipway::net {

struct WebSocketOptions {
  std::size_t message_limit = std::size_t{1} << 20;
  Duration ping_interval = std::chrono::seconds{30};
  Duration write_stall = std::chrono::seconds{30};
  Duration close_patience = std::chrono::seconds{5};  // for the peer's half of closing
};

struct WebSocketMessage {
  enum class Kind : std::uint8_t { text, binary } kind = Kind::binary;
  std::string payload;
};

class WebSocket {
 public:
  /// After the HTTP handshake; `leftover` is what came behind it.
  WebSocket(Env& env, std::shared_ptr<Stream> stream, Side side, std::string leftover, std::string subprotocol,
            WebSocketOptions options);

  /// The next message; nullopt when the peer has closed. ServiceUnavailable when cut; Timeout when the peer does not answer
  /// pings; BadRequest, Invalid, RequestEntityTooLarge when it broke the protocol (which it was told). After anything but a
  /// message, only close() makes sense.
  Task<Result<std::optional<WebSocketMessage>>> read();
  /// Suspends while the peer takes nothing. ServiceUnavailable, Timeout; also after either side has closed.
  Task<Result<void>> write(WebSocketMessage message);
  /// Tells the peer, waits a while for its answer (which ends a read() that waits), and ends the connection. May be called
  /// again.
  Task<> close(CloseCode code = CloseCode::normal, std::string reason = "");

  /// What was agreed on; empty without.
  const std::string& subprotocol() const { return subprotocol_; }
  /// What the peer said in its close frame; 1005 when nothing, 1006 when it never sent one.
  std::uint16_t peer_close_code() const { return peer_close_code_; }

 private:
  Task<Result<std::optional<WebSocketMessage>>> read_message();
  Task<Result<void>> read_bytes();
  Task<Result<void>> send(Opcode opcode, std::string payload);
  Task<> send_close(CloseCode code, std::string reason);
  Task<> answer_close(std::string payload);

  Env& env_;
  std::shared_ptr<Stream> stream_;
  Side side_;
  std::string input_;
  std::string subprotocol_;
  WebSocketOptions options_;
  FrameReader reader_;
  Signal changed_;  // a write or a read has ended
  bool is_writing_ = false;
  bool is_reading_ = false;
  bool has_sent_close_ = false;
  bool has_received_close_ = false;
  std::optional<Steady> close_deadline_;
  std::uint16_t peer_close_code_ = 1006;
};

/// The subprotocols that a request for a WebSocket offers, in the client's order; nullopt when it is no such request.
/// BadRequest when it is a broken one.
Result<std::optional<std::vector<std::string>>> websocket_offer(const http::Request& request);

}  // namespace slipway::net

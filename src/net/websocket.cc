#include "net/websocket.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"

namespace slipway::net {

WebSocket::WebSocket(Env& env, std::shared_ptr<Stream> stream, Side side, std::string leftover, std::string subprotocol,
                     WebSocketOptions options)
    : env_(env),
      stream_(std::move(stream)),
      side_(side),
      input_(std::move(leftover)),
      subprotocol_(std::move(subprotocol)),
      options_(options),
      reader_(side, options.message_limit),
      changed_(env) {}

Task<Result<std::optional<WebSocketMessage>>> WebSocket::read() {
  is_reading_ = true;
  auto message = co_await read_message();
  is_reading_ = false;
  changed_.notify();
  co_return message;
}

Task<Result<std::optional<WebSocketMessage>>> WebSocket::read_message() {
  while (!has_received_close_) {
    auto frame = reader_.next(input_);
    if (!frame) {
      const Reason reason = frame.error().reason;
      const CloseCode code = reason == Reason::RequestEntityTooLarge ? CloseCode::too_big
                             : reason == Reason::Invalid             ? CloseCode::bad_payload
                                                                     : CloseCode::protocol_error;
      co_await send_close(code, frame.error().message);
      has_received_close_ = true;  // what follows cannot be understood
      co_return fail(std::move(frame).error());
    }
    if (!*frame) {
      SLIPWAY_CO_TRY_VOID(co_await read_bytes());
      continue;
    }
    Frame& got = **frame;
    if (got.opcode == Opcode::ping && !has_sent_close_) {
      SLIPWAY_CO_TRY_VOID(co_await send(Opcode::pong, std::move(got.payload)));
    } else if (got.opcode == Opcode::close) {
      co_await answer_close(std::move(got.payload));
    } else if (got.opcode == Opcode::text || got.opcode == Opcode::binary) {
      const auto kind = got.opcode == Opcode::text ? WebSocketMessage::Kind::text : WebSocketMessage::Kind::binary;
      co_return WebSocketMessage{kind, std::move(got.payload)};
    }
  }
  co_return std::nullopt;
}

Task<Result<void>> WebSocket::read_bytes() {
  for (int asked = 0; asked < 2; ++asked) {
    const Steady patience = env_.clock.steady() + options_.ping_interval;
    const auto got =
        co_await stream_->read(input_, 64 * 1024, close_deadline_ ? std::min(*close_deadline_, patience) : patience);
    if (got && *got > 0) co_return Result<void>{};
    if (got) co_return fail(Reason::ServiceUnavailable, "WebSocket: the connection ended without a close frame");
    if (got.error().reason != Reason::Timeout || close_deadline_ || asked == 1) co_return fail(got.error());
    SLIPWAY_CO_TRY_VOID(co_await send(Opcode::ping, ""));
  }
  co_return fail(Reason::Timeout, "WebSocket: the peer does not answer");
}

Task<> WebSocket::answer_close(std::string payload) {
  has_received_close_ = true;
  const auto code = close_code(payload);
  peer_close_code_ = code.value_or(static_cast<std::uint16_t>(CloseCode::protocol_error));
  co_await send_close(code ? CloseCode::normal : CloseCode::protocol_error, "");
}

Task<> WebSocket::send_close(CloseCode code, std::string reason) {
  if (has_sent_close_) co_return;
  // Said even if it cannot be sent: the end of the connection then says it. Nothing is written after it.
  static_cast<void>(co_await send(Opcode::close, close_payload(code, reason)));
}

Task<Result<void>> WebSocket::write(WebSocketMessage message) {
  return send(message.kind == WebSocketMessage::Kind::text ? Opcode::text : Opcode::binary, std::move(message.payload));
}

Task<Result<void>> WebSocket::send(Opcode opcode, std::string payload) {
  while (is_writing_) co_await changed_.wait();
  if (has_sent_close_) co_return fail(Reason::ServiceUnavailable, "WebSocket: closed");
  if (opcode == Opcode::close) has_sent_close_ = true;
  is_writing_ = true;
  const auto mask = side_ == Side::client ? std::optional(static_cast<std::uint32_t>(env_.random.next())) : std::nullopt;
  auto written = co_await stream_->write(encode_frame(opcode, payload, mask), options_.write_stall);
  is_writing_ = false;
  changed_.notify();
  co_return written;
}

Task<> WebSocket::close(CloseCode code, std::string reason) {
  const Steady deadline = env_.clock.steady() + options_.close_patience;
  close_deadline_ = deadline;
  co_await send_close(code, std::move(reason));
  while (is_reading_ && !has_received_close_) {
    if (!co_await changed_.wait_until(deadline)) break;
  }
  // There is no other reader: what still comes before the peer's close frame is dropped.
  while (!is_reading_ && !has_received_close_) {
    const auto message = co_await read();
    if (!message) break;
  }
  stream_->finish_writing();
  stream_->close();
}

Result<std::optional<std::vector<std::string>>> websocket_offer(const http::Request& request) {
  using Offer = std::optional<std::vector<std::string>>;
  const http::Headers& headers = request.headers;
  if (!headers.has_token("Connection", "Upgrade") || !headers.has_token("Upgrade", "websocket")) return Offer{};
  std::string key;
  if (request.method != "GET" || headers.get("Sec-WebSocket-Version") != "13" ||
      !base64_decode(headers.get("Sec-WebSocket-Key"), key) || key.size() != 16) {
    return fail(Reason::BadRequest, "malformed WebSocket handshake");
  }
  std::vector<std::string> offered;
  for (const std::string_view line : headers.all("Sec-WebSocket-Protocol")) {
    for (const std::string_view one : http::split_list(line)) offered.emplace_back(one);
  }
  return Offer(std::move(offered));
}

}  // namespace slipway::net

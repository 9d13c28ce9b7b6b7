// WebSocket framing (RFC 6455 §5) as pure functions over bytes: no sockets, no time. Extensions are not spoken, so any reserved
// bit is an error. Messages are put together here, up to a limit; control frames come through between their fragments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway::net {

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

/// Close codes of RFC 6455 §7.4.1 that are used here.
enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  bad_payload = 1007,
  too_big = 1009,
  internal_error = 1011
};

struct Frame {
  Opcode opcode = Opcode::binary;  // of the whole message: never continuation
  std::string payload;
};

enum class Side : std::uint8_t { server, client };

/// One unfragmented frame. A client masks with `mask` (any number), a server does not.
std::string encode_frame(Opcode opcode, std::string_view payload, std::optional<std::uint32_t> mask);
/// The payload of a close frame; the reason is cut to 123 bytes, between characters.
std::string close_payload(CloseCode code, std::string_view reason);
/// The code of a received close payload; 1005 when it holds none. nullopt when malformed.
std::optional<std::uint16_t> close_code(std::string_view payload);
/// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string accept_key(std::string_view key);
bool is_utf8(std::string_view text);

class FrameReader {
 public:
  /// `side` is the reader's own: a server demands masked frames, a client unmasked ones.
  FrameReader(Side side, std::size_t message_limit) : side_(side), limit_(message_limit) {}

  /// Takes the next whole message or control frame from the front of `input`; nullopt when more bytes are needed (what is left
  /// in `input` is then less than a frame: at most the limit and a head). RequestEntityTooLarge: answer CloseCode::too_big;
  /// Invalid: text that is no UTF-8, CloseCode::bad_payload; BadRequest: CloseCode::protocol_error.
  Result<std::optional<Frame>> next(std::string& input);

 private:
  struct Head;
  Result<std::optional<Head>> read_head(std::string_view input) const;
  Result<std::optional<Frame>> join(const Head& head, std::string payload);

  Side side_;
  std::size_t limit_;
  std::optional<Opcode> open_;  // the kind of the message whose fragments are being collected
  std::string collected_;
};

}  // namespace slipway::net

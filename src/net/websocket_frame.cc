#include "net/websocket_frame.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/digest.h"

namespace slipway::net {
namespace {

constexpr std::size_t kControlLimit = 125;

bool is_control(Opcode opcode) { return (static_cast<std::uint8_t>(opcode) & 8) != 0; }

std::uint64_t read_number(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

void append_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

void apply_mask(std::string& payload, std::string_view mask) {
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
}

/// Bytes of the UTF-8 character that starts `text`; 0 when it is malformed (overlong, surrogate, above U+10FFFF, cut).
std::size_t character_size(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = at(1);
  const bool is_overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return is_overlong || is_outside ? 0 : size;
}

}  // namespace

struct FrameReader::Head {
  bool is_final = false;
  Opcode opcode = Opcode::binary;
  std::size_t size = 0;  // of the head itself
  std::uint64_t payload = 0;
  std::string_view mask;
};

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string encode_frame(Opcode opcode, std::string_view payload, std::optional<std::uint32_t> mask) {
  std::string frame(1, static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode)));
  const int mask_bit = mask ? 0x80 : 0;
  if (payload.size() < 126) {
    frame += static_cast<char>(mask_bit | static_cast<int>(payload.size()));
  } else if (payload.size() <= 0xffff) {
    frame += static_cast<char>(mask_bit | 126);
    append_number(frame, payload.size(), 2);
  } else {
    frame += static_cast<char>(mask_bit | 127);
    append_number(frame, payload.size(), 8);
  }
  if (!mask) return frame.append(payload);
  std::string key;
  append_number(key, *mask, 4);
  std::string masked(payload);
  apply_mask(masked, key);
  return frame + key + masked;
}

std::string close_payload(CloseCode code, std::string_view reason) {
  std::size_t size = std::min(reason.size(), kControlLimit - 2);
  while (size > 0 && size < reason.size() && (static_cast<unsigned char>(reason[size]) & 0xc0) == 0x80) --size;
  std::string payload;
  append_number(payload, static_cast<std::uint16_t>(code), 2);
  return payload.append(reason.substr(0, size));
}

std::optional<std::uint16_t> close_code(std::string_view payload) {
  if (payload.empty()) return 1005;
  if (payload.size() < 2 || !is_utf8(payload.substr(2))) return std::nullopt;
  const auto code = static_cast<std::uint16_t>(read_number(payload.substr(0, 2)));
  const bool is_defined = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
  return is_defined ? std::optional(code) : std::nullopt;
}

std::string accept_key(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455 §1.3
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

Result<std::optional<FrameReader::Head>> FrameReader::read_head(std::string_view input) const {
  if (input.size() < 2) return std::optional<Head>{};
  const auto first = static_cast<unsigned char>(input[0]);
  const auto second = static_cast<unsigned char>(input[1]);
  Head head{.is_final = (first & 0x80) != 0,
            .opcode = static_cast<Opcode>(first & 0x0f),
            .size = 2,
            .payload = second & 0x7fU,
            .mask = {}};
  const bool is_masked = (second & 0x80) != 0;
  const int code = first & 0x0f;
  if ((first & 0x70) != 0) return fail(Reason::BadRequest, "WebSocket: a reserved bit is set");
  if (code > 10 || (code > 2 && code < 8)) return fail(Reason::BadRequest, "WebSocket: unknown opcode");
  if (is_masked != (side_ == Side::server)) return fail(Reason::BadRequest, "WebSocket: only clients mask, and always");
  if (is_control(head.opcode) && (!head.is_final || head.payload > kControlLimit)) {
    return fail(Reason::BadRequest, "WebSocket: a control frame is fragmented or too long");
  }
  const bool is_continuing = head.opcode == Opcode::continuation;
  if (!is_control(head.opcode) && is_continuing != open_.has_value())
    return fail(Reason::BadRequest, "WebSocket: fragments out of order");
  const std::size_t length_bytes = head.payload == 126 ? 2 : head.payload == 127 ? 8 : 0;
  head.size += length_bytes + (is_masked ? 4 : 0);
  if (input.size() < head.size) return std::optional<Head>{};
  if (length_bytes > 0) head.payload = read_number(input.substr(2, length_bytes));
  if (is_masked) head.mask = input.substr(2 + length_bytes, 4);
  if (!is_control(head.opcode) && head.payload > limit_ - collected_.size()) {
    return fail(Reason::RequestEntityTooLarge, "WebSocket: a message is larger than the limit");
  }
  return std::optional(head);
}

Result<std::optional<Frame>> FrameReader::next(std::string& input) {
  while (true) {
    SLIPWAY_TRY(head, read_head(input));
    if (!head || input.size() - head->size < head->payload) return std::optional<Frame>{};
    std::string payload = input.substr(head->size, head->payload);
    if (!head->mask.empty()) apply_mask(payload, head->mask);
    head->mask = {};
    input.erase(0, head->size + head->payload);
    SLIPWAY_TRY(frame, join(*head, std::move(payload)));
    if (frame) return std::move(frame);
  }
}

Result<std::optional<Frame>> FrameReader::join(const Head& head, std::string payload) {
  if (is_control(head.opcode)) return std::optional(Frame{head.opcode, std::move(payload)});
  if (head.opcode != Opcode::continuation) open_ = head.opcode;
  collected_ += payload;
  if (!head.is_final) return std::optional<Frame>{};
  Frame frame{*open_, std::exchange(collected_, {})};
  open_.reset();
  if (frame.opcode == Opcode::text && !is_utf8(frame.payload)) return fail(Reason::Invalid, "WebSocket: a text is no UTF-8");
  return std::optional(std::move(frame));
}

}  // namespace slipway::net

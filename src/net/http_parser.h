// Reads one HTTP/1.1 message out of the bytes of a connection, piece by piece. Strict where requests could be smuggled: no
// message with both a length and chunks, no other transfer coding than chunked, no obsolete line folding in odd places (Boost's
// Beast does the grammar). Bounded: heads and bodies have limits, and what must be kept between two feeds is at most a head.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/http.h"

namespace slipway::net {

struct MessageLimits {
  std::uint32_t header_bytes = 64 * 1024;  // start line and fields, and each line between chunks
  std::uint64_t body_bytes = std::uint64_t{3} * 1024 * 1024;
};

struct MessageHead {
  std::string method;  // requests
  std::string target;
  int status = 0;         // responses
  int minor_version = 1;  // HTTP/1.x
  http::Headers headers;
  bool keeps_alive = false;
  bool has_body = false;  // more than an empty one
};

class MessageParser {
 public:
  static MessageParser request(MessageLimits limits);
  /// `is_bodyless`: the answer to HEAD or CONNECT, which ends with its head whatever the fields say.
  static MessageParser response(MessageLimits limits, bool is_bodyless);
  MessageParser(MessageParser&&) noexcept;
  MessageParser& operator=(MessageParser&&) noexcept;
  ~MessageParser();

  /// Takes what it understands from the front of `input`, and erases it there; the rest belongs to the next message or needs
  /// more bytes. BadRequest; RequestEntityTooLarge when a limit is passed (is_head_done() tells which). Not to be fed again
  /// after that.
  Result<void> feed(std::string& input);
  /// The peer has closed. BadRequest unless the message ends exactly here.
  Result<void> finish();

  bool is_head_done() const;
  bool is_done() const;
  MessageHead& head();
  /// The part of the body that came since the last call, free of chunk frames.
  std::string take_body();
  std::size_t body_size() const;

 private:
  struct Parts;
  explicit MessageParser(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace slipway::net

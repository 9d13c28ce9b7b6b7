#include "net/websocket_frame.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway::net {
namespace {

/// What a server reads from `bytes`, one line per frame, up to the first error.
std::vector<std::string> read_all(std::string bytes, std::size_t limit = 1000, Side side = Side::server) {
  FrameReader reader(side, limit);
  std::vector<std::string> lines;
  while (true) {
    auto frame = reader.next(bytes);
    if (!frame) {
      lines.push_back(std::string(to_string(frame.error().reason)));
      return lines;
    }
    if (!*frame) return lines;
    lines.push_back(std::to_string(static_cast<int>((*frame)->opcode)) + " " + (*frame)->payload);
  }
}

/// A masked frame with the flags and opcode of `first`.
std::string frame(int first, std::string_view payload) {
  std::string bytes = encode_frame(Opcode::binary, payload, 0x01020304);
  bytes[0] = static_cast<char>(first);
  return bytes;
}

using Lines = std::vector<std::string>;

TEST(WebSocketFrame, reads_the_examples_of_the_standard) {
  EXPECT_EQ(read_all("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), (Lines{"1 Hello"}));
  EXPECT_EQ(read_all("\x81\x05Hello", 1000, Side::client), (Lines{"1 Hello"}));
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketFrame, round_trips_payloads_of_every_length_form) {
  for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U, 70000U}) {
    const std::string payload(size, 'x');
    EXPECT_EQ(read_all(encode_frame(Opcode::binary, payload, 0xdeadbeef), 70000), (Lines{"2 " + payload})) << size;
    EXPECT_EQ(read_all(encode_frame(Opcode::binary, payload, std::nullopt), 70000, Side::client), (Lines{"2 " + payload}))
        << size;
  }
}

TEST(WebSocketFrame, joins_fragments_around_control_frames) {
  EXPECT_EQ(read_all(frame(0x01, "a") + frame(0x89, "p") + frame(0x00, "b") + frame(0x80, "c") + frame(0x82, "d")),
            (Lines{"9 p", "1 abc", "2 d"}));
}

TEST(WebSocketFrame, waits_for_the_rest_of_a_frame) {
  const std::string whole = encode_frame(Opcode::text, std::string(200, 'x'), 7);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(read_all(whole.substr(0, size)), Lines{}) << size;
}

TEST(WebSocketFrame, refuses_what_breaks_the_protocol) {
  for (const std::string& bytes : {
           frame(0xc2, "a"),                                 // reserved bit
           frame(0x83, "a"), frame(0x8b, "a"),               // unknown opcodes
           frame(0x80, "a"),                                 // nothing to continue
           frame(0x01, "a") + frame(0x82, "b"),              // a new message within another
           frame(0x09, "a"),                                 // fragmented ping
           frame(0x89, std::string(126, 'a')),               // long ping
           encode_frame(Opcode::binary, "a", std::nullopt),  // a client that does not mask
       }) {
    EXPECT_EQ(read_all(bytes).back(), "BadRequest");
  }
  EXPECT_EQ(read_all(frame(0x82, "a"), 1000, Side::client).back(), "BadRequest");
  EXPECT_EQ(read_all(frame(0x82, std::string(11, 'a')), 10).back(), "RequestEntityTooLarge");
  EXPECT_EQ(read_all(frame(0x02, std::string(6, 'a')) + frame(0x80, std::string(6, 'a')), 10).back(), "RequestEntityTooLarge");
  EXPECT_EQ(read_all(std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14)).back(), "RequestEntityTooLarge");
  EXPECT_EQ(read_all(frame(0x81, "\xff")).back(), "Invalid");
}

TEST(WebSocketFrame, judges_utf8_as_unicode_does) {
  for (const char* good : {"", "a\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good));
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(WebSocketFrame, writes_and_reads_close_codes) {
  EXPECT_EQ(close_code(close_payload(CloseCode::going_away, "bye")), 1001);
  EXPECT_EQ(close_payload(CloseCode::normal, std::string(122, 'a') + "\xc3\xa9").size(), 124U);
  EXPECT_EQ(close_code(""), 1005);
  EXPECT_EQ(close_code("x"), std::nullopt);
  EXPECT_EQ(close_code(std::string("\x03\xed", 2)), std::nullopt);  // 1005 may not be sent
}

}  // namespace
}  // namespace slipway::net

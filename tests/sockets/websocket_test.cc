// WebSockets between the server and the client of room net, and against raw frames.
#include "net/websocket.h"

#include <gtest/gtest.h>

#include "server_fixture.h"

namespace slipway::net {
namespace {

using Kind = WebSocketMessage::Kind;

/// Echoes messages under the first protocol it knows, until the client closes. "bye" makes it close.
Task<Answer> echo_socket(http::Request request, std::shared_ptr<const ConnectionInfo>) {
  const auto offer = websocket_offer(request);
  if (!offer || !*offer) co_return status_response(400, "BadRequest", "a WebSocket was expected");
  std::string chosen;
  for (const std::string& one : **offer) {
    if (chosen.empty() && (one == "v5.channel.k8s.io" || one == "v4.channel.k8s.io")) chosen = one;
  }
  co_return Upgrade{chosen, [](std::shared_ptr<WebSocket> socket) -> Task<> {
                      while (true) {
                        auto message = co_await socket->read();
                        if (!message || !*message) co_return;
                        if ((*message)->payload == "bye")
                          co_return co_await socket->close(CloseCode::going_away, "as you wish");
                        if (!(co_await socket->write(std::move(**message))).has_value()) co_return;
                      }
                    }};
}

TEST(WebSocket, echoes_text_and_binary_and_agrees_on_a_subprotocol) {
  World world;
  world.run({.websocket = {.message_limit = 300'000}}, echo_socket, [&]() -> Task<> {
    const auto client = world.client();
    const auto opened =
        co_await client->open_websocket(get(world.url("/exec")), {"unknown", "v5.channel.k8s.io", "v4.channel.k8s.io"});
    CO_ASSERT(opened.has_value());
    WebSocket& socket = **opened;
    EXPECT_EQ(socket.subprotocol(), "v5.channel.k8s.io");
    for (const auto& [kind, payload] : std::vector<std::pair<Kind, std::string>>{{Kind::text, "hello"},
                                                                                 {Kind::binary, std::string("\0\xff", 2)},
                                                                                 {Kind::binary, std::string(200'000, 'x')},
                                                                                 {Kind::text, ""}}) {
      EXPECT_TRUE((co_await socket.write({kind, payload})).has_value());
      const auto message = co_await socket.read();
      CO_ASSERT(message && *message);
      EXPECT_EQ((*message)->kind, kind);
      EXPECT_EQ((*message)->payload, payload);
    }
    co_await socket.close();
    EXPECT_EQ(socket.peer_close_code(), 1000);
    EXPECT_FALSE((co_await socket.write({Kind::text, "late"})).has_value());
  });
}

TEST(WebSocket, the_server_may_close_first) {
  World world;
  world.run({}, echo_socket, [&]() -> Task<> {
    const auto client = world.client();
    const auto socket = co_await client->open_websocket(get(world.url("/")), {});
    CO_ASSERT(socket.has_value());
    EXPECT_EQ((*socket)->subprotocol(), "");
    co_await (*socket)->write({Kind::text, "bye"});
    const auto end = co_await (*socket)->read();
    EXPECT_TRUE(end && !*end);
    EXPECT_EQ((*socket)->peer_close_code(), 1001);
    co_await (*socket)->close();
  });
}

TEST(WebSocket, a_message_beyond_the_limit_is_refused_with_its_code) {
  World world;
  world.run({.websocket = {.message_limit = 10}}, echo_socket, [&]() -> Task<> {
    const auto client = world.client();
    const auto socket = co_await client->open_websocket(get(world.url("/")), {});
    CO_ASSERT(socket.has_value());
    co_await (*socket)->write({Kind::binary, std::string(11, 'x')});
    const auto end = co_await (*socket)->read();
    EXPECT_TRUE(end && !*end);
    EXPECT_EQ((*socket)->peer_close_code(), 1009);
    co_await (*socket)->close();
  });
}

TEST(WebSocket, a_refusal_carries_the_answer) {
  World world;
  world.run({}, echo, [&]() -> Task<> {
    const auto client = world.client();
    const auto socket = co_await client->open_websocket(get(world.url("/")), {});
    CO_ASSERT(!socket.has_value());
    EXPECT_EQ(socket.error().message, "GET / ");
  });
}

constexpr std::string_view kHandshake =
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

TEST(WebSocket, frames_that_come_with_the_handshake_are_read_and_pings_answered) {
  World world;
  world.run({}, echo_socket, [&]() -> Task<> {
    const auto stream = co_await world.connect();
    co_await stream->write(std::string(kHandshake) + encode_frame(Opcode::ping, "p", 1) + encode_frame(Opcode::text, "t", 2) +
                               encode_frame(Opcode::close, close_payload(CloseCode::normal, ""), 3),
                           kBroken);
    const std::string answer = co_await read_to_end(stream);
    EXPECT_TRUE(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")) << answer;
    EXPECT_EQ(answer.substr(answer.find("\r\n\r\n") + 4), std::string("\x8a\x01p\x81\x01t\x88\x02\x03\xe8", 10));
  });
}

TEST(WebSocket, a_broken_frame_is_answered_with_its_code) {
  World world;
  world.run({.websocket = {.close_patience = 20ms}}, echo_socket, [&]() -> Task<> {
    const auto stream = co_await world.connect();
    co_await stream->write(std::string(kHandshake) + encode_frame(Opcode::text, "unmasked", std::nullopt), kBroken);
    const std::string answer = co_await read_to_end(stream);
    const std::string frame = answer.substr(answer.find("\r\n\r\n") + 4);
    EXPECT_EQ(frame.substr(2, 2), std::string("\x03\xea", 2)) << answer;
  });
}

TEST(WebSocket, a_peer_that_answers_no_pings_is_given_up) {
  World world;
  world.run({.websocket = {.ping_interval = 20ms, .close_patience = 20ms}}, echo_socket, [&]() -> Task<> {
    const auto stream = co_await world.connect();
    co_await stream->write(std::string(kHandshake), kBroken);
    const std::string answer = co_await read_to_end(stream);
    EXPECT_TRUE(answer.contains(std::string("\x89\0", 2)));
  });
}

TEST(WebSocket, a_malformed_handshake_is_no_offer) {
  http::Request request{
      .method = "GET", .target = "/", .headers = {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}}, .body = ""};
  EXPECT_FALSE(websocket_offer(request).has_value());
  request.headers.add("Sec-WebSocket-Version", "13");
  request.headers.add("Sec-WebSocket-Key", "short");
  EXPECT_FALSE(websocket_offer(request).has_value());
  request.headers.set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
  EXPECT_TRUE(websocket_offer(request)->has_value());
  request.headers.set("Upgrade", "SPDY/3.1");
  EXPECT_EQ(*websocket_offer(request), std::nullopt);
}

}  // namespace
}  // namespace slipway::net

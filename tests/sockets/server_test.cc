// The HTTP server over real sockets: what it takes, what it refuses, whom it cuts.
#include "net/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "server_fixture.h"

namespace slipway::net {
namespace {

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/// What the server answers to raw bytes, up to its closing.
std::string answer_to(std::string bytes, ServerLimits limits = {}) {
  World world;
  std::string answer;
  world.run({.limits = limits}, echo, [&]() -> Task<> {
    const auto stream = co_await world.connect();
    EXPECT_TRUE((co_await stream->write(bytes, kBroken)).has_value());
    answer = co_await read_to_end(stream);
  });
  return answer;
}

TEST(Server, answers_pipelined_requests_in_order_on_one_connection) {
  const std::string answer = answer_to(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const auto first = answer.find("GET /1 ");
  const auto second = answer.find("POST /2 abc");
  const auto third = answer.find("GET /3 ");
  EXPECT_TRUE(first < second && second < third && third != std::string::npos) << answer;
  EXPECT_TRUE(answer.contains("Connection: close")) << answer;
  EXPECT_TRUE(answer.contains("Content-Length: 11")) << answer;
}

TEST(Server, refuses_malformed_requests_with_400_and_ends_the_connection) {
  for (const std::string request : {
           "GET / HTTP/1.0\r\nHost: x\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
           "GET relative HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n",
           "GET / HTTP/3.0\r\nHost: x\r\n\r\n",
           "\x16\x03\x01\x02 TLS hello of a lost client \r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
       }) {
    const std::string answer = answer_to(request);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 Bad Request\r\n")) << request << "\n" << answer;
    EXPECT_TRUE(answer.contains(R"("reason":"BadRequest","code":400)")) << answer;
  }
}

/// A stream that throws after its first piece.
class ThrowingStream : public http::BodyStream {
 public:
  Task<Result<std::optional<std::string>>> next() override {
    if (std::exchange(is_begun_, true)) throw std::out_of_range("of a stream");
    co_return "piece";
  }
  void close() override {}

 private:
  bool is_begun_ = false;
};

TEST(Server, an_exception_of_a_handler_fails_its_request_alone) {
  World world;
  const auto handler = [](http::Request request, std::shared_ptr<const ConnectionInfo>) -> Task<Answer> {
    if (request.target == "/throws") throw std::out_of_range("stoul");
    if (request.target == "/throws-no-exception") throw 7;
    http::Response response{.body = "well"};
    if (request.target == "/stream") response.stream = std::make_unique<ThrowingStream>();
    co_return response;
  };
  const auto ask = [&world](std::string paths) -> Task<std::string> {
    std::string bytes;
    for (const std::string_view path : split(paths, ' ')) bytes += fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path);
    const auto stream = co_await world.connect();
    EXPECT_TRUE((co_await stream->write(bytes, kBroken)).has_value());
    if (!paths.ends_with("/stream")) stream->finish_writing();
    co_return co_await read_to_end(stream);
  };
  world.run({}, handler, [&]() -> Task<> {
    const std::string after = co_await ask("/throws /throws-no-exception /");
    EXPECT_TRUE(after.starts_with("HTTP/1.1 500 ")) << after;
    EXPECT_TRUE(after.contains("RequestError")) << after;
    EXPECT_TRUE(after.ends_with("well")) << after;
    const std::string cut = co_await ask("/stream");
    EXPECT_TRUE(cut.contains("piece") && !cut.ends_with(kLastChunk)) << cut;
    EXPECT_TRUE((co_await ask("/")).ends_with("well"));
  });
}

TEST(Server, refuses_what_is_too_large) {
  const ServerLimits limits{.message = {.header_bytes = 1000, .body_bytes = 100}};
  EXPECT_TRUE(
      answer_to("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(5000, 'a') + "\r\n\r\n", limits).starts_with("HTTP/1.1 431 "));
  const std::string announced =
      answer_to("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n" + std::string(500000, 'a'), limits);
  EXPECT_TRUE(announced.starts_with("HTTP/1.1 413 ")) << announced;
  EXPECT_TRUE(announced.contains("Request entity too large: limit is 100")) << announced;
  const std::string chunked = answer_to("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                            chunk(std::string(90, 'a')) + chunk(std::string(90, 'a')) + "0\r\n\r\n",
                                        limits);
  EXPECT_TRUE(chunked.starts_with("HTTP/1.1 413 ")) << chunked;
  const ServerLimits scarce{.bodies_in_flight = 50};
  EXPECT_TRUE(answer_to("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n" + std::string(90, 'a'), scarce)
                  .starts_with("HTTP/1.1 429 "));
}

TEST(Server, reads_no_more_of_a_body_than_its_head_allows) {
  ServerOptions options;
  options.body_limit = [](const MessageHead& head) -> Result<std::uint64_t> {
    if (!head.headers.contains("X-Signature")) return fail(Reason::Unauthorized, "not signed");
    return 10;
  };
  const auto answer = [&options](std::string_view fields, std::size_t size) {
    World world;
    std::string answer;
    world.run(options, echo, [&]() -> Task<> {
      const auto stream = co_await world.connect();
      const std::string head =
          fmt::format("POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n", size, fields);
      EXPECT_TRUE((co_await stream->write(head + std::string(std::min<std::size_t>(size, 11), 'a'), kBroken)).has_value());
      answer = co_await read_to_end(stream);
    });
    return answer;
  };
  EXPECT_TRUE(answer("X-Signature: s\r\n", 10).starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(answer("X-Signature: s\r\n", 1'000'000).starts_with("HTTP/1.1 413 ")) << "without waiting for the rest";
  const std::string unsigned_answer = answer("", 1'000'000);
  EXPECT_TRUE(unsigned_answer.starts_with("HTTP/1.1 401 ")) << "without waiting for the body: " << unsigned_answer;
}

TEST(Server, cuts_those_who_send_too_slowly) {
  EXPECT_EQ(answer_to("", {.idle_timeout = 30ms}), "");  // idle: nothing to answer
  EXPECT_TRUE(answer_to("GET / HT", {.header_timeout = 30ms}).starts_with("HTTP/1.1 408 "));
  EXPECT_TRUE(answer_to("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", {.body_timeout = 30ms})
                  .starts_with("HTTP/1.1 408 "));
  std::string answer;  // and then idle; where its request itself came too late, once more
  while (answer.empty()) answer = answer_to(std::string(kGet), {.idle_timeout = 200ms});
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("GET /a ")) << answer;
}

TEST(Server, a_drip_of_header_bytes_does_not_move_the_deadline) {
  World world;
  world.run({.limits = {.header_timeout = 50ms}}, echo, [&]() -> Task<> {
    const auto stream = co_await world.connect();
    bool is_cut = false;
    for (int sent = 0; !is_cut; ++sent) {  // would go on for ever
      std::string answer;
      const auto ready = stream->read_ready(answer, 1000);
      is_cut = !ready || *ready;
      if (!is_cut) is_cut = !(co_await stream->write(sent == 0 ? "GET / HTTP/1.1\r\nA: " : "a", kBroken)).has_value();
      co_await sleep_for(world.env(), 1ms);
    }
    EXPECT_TRUE(is_cut);
  });
}

/// A body that is there as fast as it is asked for. Counts what is taken of it while no other task has a turn.
class ReadyBody : public http::BodyStream {
 public:
  struct Count {
    int in_turn = 0;
    int most = 0;
    int left = 60;
  };
  explicit ReadyBody(Count& count) : count_(count) {}
  Task<Result<std::optional<std::string>>> next() override {
    if (count_.left-- <= 0) co_return std::optional<std::string>{};
    count_.most = std::max(count_.most, ++count_.in_turn);
    co_return std::optional(std::string(40'000, 'x'));
  }
  void close() override {}

 private:
  Count& count_;
};

TEST(Server, lets_others_run_between_the_pieces_of_a_body_that_is_ready) {
  World world;
  ReadyBody::Count count;
  const Handler handler = [&](http::Request, std::shared_ptr<const ConnectionInfo>) -> Task<Answer> {
    http::Response response;
    response.stream = std::make_unique<ReadyBody>(count);
    co_return Answer(std::move(response));
  };
  bool is_read = false;
  const auto take_turns = [&]() -> Task<> {
    while (!is_read) {
      count.in_turn = 0;
      co_await yield(world.env());
    }
  };
  world.run({}, handler, [&]() -> Task<> {
    Tasks tasks(world.env());
    tasks.spawn(take_turns());
    const auto stream = co_await world.connect();
    co_await stream->write(std::string(kGet), kBroken);
    const std::string answer = co_await read_until(stream, "\r\n0\r\n\r\n");
    EXPECT_GT(answer.size(), 60U * 40'000);
    is_read = true;
    co_await tasks.join();
  });
  EXPECT_LE(count.most, 2);
}

TEST(Server, says_continue_before_a_body_that_is_welcome) {
  World world;
  world.run({}, echo, [&]() -> Task<> {
    const auto stream = co_await world.connect();
    co_await stream->write("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", kBroken);
    EXPECT_EQ(co_await read_until(stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    co_await stream->write("abc", kBroken);
    EXPECT_TRUE((co_await read_until(stream, "POST / abc")).starts_with("HTTP/1.1 200 OK"));
    const auto refused = co_await world.connect();
    co_await refused->write("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n", kBroken);
    EXPECT_TRUE((co_await read_to_end(refused)).starts_with("HTTP/1.1 413 "));
  });
}

TEST(Server, answers_head_and_bodyless_codes_without_a_body) {
  World world;
  const auto handler = [](http::Request request, std::shared_ptr<const ConnectionInfo>) -> Task<Answer> {
    http::Response response{.status = request.target == "/204" ? 204 : 200, .headers = {}, .body = "body", .stream = {}};
    co_return response;
  };
  world.run({}, handler, [&]() -> Task<> {
    const auto stream = co_await world.connect();
    co_await stream->write("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET /204 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                           kBroken);
    const std::string answer = co_await read_to_end(stream);
    EXPECT_TRUE(answer.contains("Content-Length: 4\r\n")) << answer;
    EXPECT_FALSE(answer.contains("body")) << answer;
    EXPECT_TRUE(answer.contains("HTTP/1.1 204 No Content\r\n")) << answer;
  });
}

TEST(Server, closes_the_longest_idle_connection_when_there_are_too_many) {
  World world;
  world.run({.limits = {.connections = 2}}, echo, [&]() -> Task<> {
    std::vector<std::shared_ptr<Stream>> streams;
    for (int i = 0; i < 3; ++i) {
      streams.push_back(co_await world.connect());
      co_await streams.back()->write(std::string(kGet), kBroken);
      EXPECT_TRUE((co_await read_until(streams.back(), "GET /a ")).starts_with("HTTP/1.1 200 ")) << i;
    }
    std::string rest;
    EXPECT_EQ(co_await streams[0]->read(rest, 100, std::nullopt), 0U);
    co_await streams[1]->write(std::string(kGet), kBroken);
    EXPECT_TRUE((co_await read_until(streams[1], "GET /a ")).starts_with("HTTP/1.1 200 "));
  });
}

TEST(Server, serves_others_beside_a_thousand_idle_connections) {
  World world;
  world.run({}, echo, [&]() -> Task<> {
    std::vector<std::shared_ptr<Stream>> idle;
    for (int i = 0; i < 1000; ++i) idle.push_back(co_await world.connect());
    co_await world.until([&] { return world.server().idle_connections() == 1000; });
    const auto client = world.client();
    const auto answer = co_await client->send(get(world.url("/x")));
    CO_ASSERT(answer.has_value());
    EXPECT_EQ(answer->body, "GET /x ");
  });
}

TEST(Server, serves_others_beside_a_client_that_never_stops_asking) {
  World world;
  int flooded = 0;
  const auto handler = [&](http::Request request, std::shared_ptr<const ConnectionInfo> info) -> Task<Answer> {
    if (request.target == "/a") ++flooded;
    return echo(std::move(request), std::move(info));
  };
  world.run({}, handler, [&]() -> Task<> {
    const auto flood = co_await world.connect();
    std::string requests;
    for (int i = 0; i < 2000; ++i) requests += kGet;
    Tasks tasks(world.env());
    tasks.spawn([](std::shared_ptr<Stream> stream, std::string bytes) -> Task<> {
      EXPECT_TRUE((co_await stream->write(bytes, kBroken)).has_value());
    }(flood, requests));
    co_await world.until([&] { return flooded > 0; });
    const auto client = world.client();
    const auto answer = co_await client->send(get(world.url("/x")));
    EXPECT_TRUE(answer.has_value());
    EXPECT_LT(flooded, 2000);
    flood->close();
    co_await tasks.join();
  });
}

/// Pieces that a test lets go one by one.
class GatedStream : public http::BodyStream {
 public:
  struct Gate {
    explicit Gate(Env& env) : changed(env) {}
    void push(std::string piece) {
      pieces.push_back(std::move(piece));
      changed.notify();
    }
    std::deque<std::string> pieces;
    bool is_ended = false;
    bool is_closed = false;
    std::optional<Status> failure;
    Signal changed;
  };
  explicit GatedStream(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  Task<Result<std::optional<std::string>>> next() override {
    const auto gate = gate_;
    while (gate->pieces.empty() && !gate->is_ended && !gate->is_closed && !gate->failure) co_await gate->changed.wait();
    if (gate->failure) co_return fail(*gate->failure);
    if (gate->pieces.empty() || gate->is_closed) co_return std::nullopt;
    std::string piece = std::move(gate->pieces.front());
    gate->pieces.pop_front();
    co_return piece;
  }
  void close() override {
    gate_->is_closed = true;
    gate_->changed.notify();
  }

 private:
  std::shared_ptr<Gate> gate_;
};

Handler streaming(std::shared_ptr<GatedStream::Gate> gate) {
  return [gate](http::Request, std::shared_ptr<const ConnectionInfo>) -> Task<Answer> {
    http::Response response;
    response.stream = std::make_unique<GatedStream>(gate);
    co_return response;
  };
}

HttpCall streamed(std::string url) {
  HttpCall call = get(std::move(url));
  call.is_streaming = true;
  return call;
}

TEST(Stream, each_piece_arrives_before_the_next_is_made) {
  World world;
  const auto gate = std::make_shared<GatedStream::Gate>(world.env());
  world.run({}, streaming(gate), [&]() -> Task<> {
    const auto client = world.client();
    auto answer = co_await client->send(streamed(world.url("/watch")));
    CO_ASSERT(answer.has_value());
    EXPECT_EQ(answer->headers.get("Transfer-Encoding"), "chunked");
    for (const char* piece : {"one\n", "two\n"}) {
      gate->push(piece);
      EXPECT_EQ(co_await next_of(*answer->stream), piece);
    }
    gate->is_ended = true;
    gate->changed.notify();
    EXPECT_EQ(co_await next_of(*answer->stream), "(end)");
    EXPECT_EQ(client->idle_connections(), 1U);  // the connection can be used again
    gate->is_ended = gate->is_closed = false;
    gate->push("again");
    answer = co_await client->send(streamed(world.url("/watch")));
    CO_ASSERT(answer.has_value());
    EXPECT_EQ(co_await next_of(*answer->stream), "again");
    EXPECT_EQ(client->connections_made(), 1U);
  });
}

TEST(Stream, one_that_failed_is_not_taken_for_a_whole) {
  World world;
  const auto gate = std::make_shared<GatedStream::Gate>(world.env());
  world.run({}, streaming(gate), [&]() -> Task<> {
    const auto client = world.client();
    const auto answer = co_await client->send(streamed(world.url("/watch")));
    CO_ASSERT(answer.has_value());
    gate->failure = fail(Reason::InternalError, "broken").error();
    gate->changed.notify();
    EXPECT_EQ(co_await next_of(*answer->stream), "(cut)");
  });
}

TEST(Stream, is_closed_when_its_reader_goes_away) {
  World world;
  const auto gate = std::make_shared<GatedStream::Gate>(world.env());
  world.run({}, streaming(gate), [&]() -> Task<> {
    {
      const auto client = world.client();
      const auto answer = co_await client->send(streamed(world.url("/watch")));
      EXPECT_TRUE(answer.has_value());
      EXPECT_FALSE(gate->is_closed);
    }
    co_await world.until([&] { return gate->is_closed; });
  });
}

TEST(Stream, a_reader_that_takes_nothing_is_cut) {
  World world;
  const auto gate = std::make_shared<GatedStream::Gate>(world.env());
  world.run({.limits = {.write_stall = 50ms}}, streaming(gate), [&]() -> Task<> {
    const auto stream = co_await world.connect();
    co_await stream->write(std::string(kGet), kBroken);
    for (int i = 0; i < 64; ++i) gate->push(std::string(1 << 20, 'x'));
    co_await world.until([&] { return gate->is_closed; });
  });
}

TEST(Server, a_stop_ends_streams_cleanly_and_lets_requests_finish) {
  World world;
  const auto gate = std::make_shared<GatedStream::Gate>(world.env());
  Signal go(world.env());
  bool has_begun = false;
  const auto handler = [&](http::Request request, std::shared_ptr<const ConnectionInfo> info) -> Task<Answer> {
    if (request.target == "/watch") co_return co_await streaming(gate)(std::move(request), std::move(info));
    has_begun = true;
    co_await go.wait();
    co_return co_await echo(std::move(request), std::move(info));
  };
  world.run({}, handler, [&]() -> Task<> {
    const auto watch = co_await world.connect();
    co_await watch->write("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n", kBroken);
    co_await read_until(watch, "\r\n\r\n");
    const auto busy = co_await world.connect();
    co_await busy->write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n", kBroken);
    co_await world.until([&] { return has_begun; });
    const auto idle = co_await world.connect();
    co_await world.until([&] { return world.server().connections() == 3; });
    world.server().stop(60s);
    EXPECT_EQ(co_await read_to_end(watch), "0\r\n\r\n");
    EXPECT_EQ(co_await read_to_end(idle), "");
    go.notify();
    const std::string answer = co_await read_to_end(busy);
    EXPECT_TRUE(answer.contains("Connection: close") && answer.ends_with("GET /slow ")) << answer;
  });
}

TEST(Server, a_world_may_be_dropped_in_the_midst_of_everything) {
  World world;
  const auto gate = std::make_shared<GatedStream::Gate>(world.env());
  const auto client = world.client();
  world.run_and_drop({}, streaming(gate), [&]() -> Task<> {
    const auto idle = co_await world.connect();
    const auto half = co_await world.connect();
    co_await half->write("GET / HT", kBroken);
    const auto answer = co_await client->send(streamed(world.url("/watch")));
    CO_ASSERT(answer.has_value());
    co_await world.until([&] { return world.server().connections() == 3; });
    world.stop();
    co_await next_of(*answer->stream);
    ADD_FAILURE() << "the world went on";
  });
}

}  // namespace
}  // namespace slipway::net

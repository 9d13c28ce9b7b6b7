// A server and a client of room net on the loopback, each test in an Env of its own. Waiting is for events, never for time.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <functional>

#include "base/check.h"
#include "net/certificate.h"
#include "net/client.h"
#include "net/http.h"
#include "net/server.h"
#include "os/real_env.h"

/// ASSERT_TRUE for coroutines.
#define CO_ASSERT(condition)     \
  if (!(condition)) {            \
    ADD_FAILURE() << #condition; \
    co_return;                   \
  }                              \
  static_assert(true)

namespace slipway::net {

using namespace std::chrono_literals;

/// Ends only a broken run.
constexpr Duration kBroken = 10min;

class World {
 public:
  World() : real_({.log_level = LogLevel::Error}) {}

  Env& env() { return real_.env(); }
  HttpServer& server() { return *server_; }
  std::string url(const std::string& path, const std::string& host = "127.0.0.1") const {
    return (is_tls_ ? "https://" : "http://") + host + ":" + std::to_string(server_->port()) + path;
  }

  /// Serves `handler` while `body` runs, then stops the server; both must end.
  void run(ServerOptions options, Handler handler, std::function<Task<>()> body) {
    is_tls_ = options.tls.has_value();
    auto listening = HttpServer::listen(env(), std::move(options));
    ASSERT_TRUE(listening) << listening.error().message;
    server_ = std::move(*listening);
    bool has_ended = false;
    boost::asio::co_spawn(env().executor, all(std::move(handler), std::move(body)), [&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      has_ended = true;
      real_.stop();
    });
    real_.run();
    EXPECT_TRUE(has_ended);
    EXPECT_EQ(server_->connections(), 0U);
  }

  /// Serves `handler` until `body` calls stop(), then drops the world with everything that still waits.
  void run_and_drop(ServerOptions options, Handler handler, std::function<Task<>()> body) {
    is_tls_ = options.tls.has_value();
    server_ = std::move(*HttpServer::listen(env(), std::move(options)));
    boost::asio::co_spawn(env().executor, server_->run(std::move(handler)), [](std::exception_ptr) {});
    boost::asio::co_spawn(env().executor, body(), [](std::exception_ptr) {});
    real_.run();
    real_.shut();
  }
  void stop() { real_.stop(); }

  std::unique_ptr<Client> client(ClientOptions options = {}) {
    auto made = Client::make(env(), std::move(options));
    SLIPWAY_CHECK(made.has_value());
    return std::move(*made);
  }

  /// A plain connection to the server.
  Task<std::shared_ptr<Stream>> connect() {
    auto stream = co_await Stream::connect(env(), "127.0.0.1", std::to_string(server_->port()), std::nullopt);
    SLIPWAY_CHECK(stream.has_value());
    co_return *stream;
  }

  /// Suspends until `holds`, letting everybody else run.
  Task<> until(std::function<bool()> holds) {
    while (!holds()) co_await sleep_for(env(), 1ms);
  }

 private:
  Task<> all(Handler handler, std::function<Task<>()> body) {
    Tasks tasks(env());
    tasks.spawn(server_->run(std::move(handler)));
    co_await body();
    server_->stop(kBroken);
    co_await tasks.join();
  }

  os::RealEnv real_;
  std::unique_ptr<HttpServer> server_;
  bool is_tls_ = false;
};

/// All that comes until the end of the connection.
inline Task<std::string> read_to_end(std::shared_ptr<Stream> stream) {
  std::string text;
  while (true) {
    const auto got = co_await stream->read(text, 64 * 1024, std::nullopt);
    if (!got || *got == 0) co_return text;
  }
}
inline Task<std::string> read_until(std::shared_ptr<Stream> stream, std::string end) {
  std::string text;
  while (!text.contains(end)) {
    const auto got = co_await stream->read(text, 64 * 1024, std::nullopt);
    if (!got || *got == 0) break;
  }
  co_return text;
}

/// Answers with "METHOD TARGET BODY".
inline Task<Answer> echo(http::Request request, std::shared_ptr<const ConnectionInfo>) {
  http::Response response;
  response.body = request.method + " " + request.target + " " + request.body;
  co_return response;
}

/// The next piece of a stream, "(end)" or "(cut)".
inline Task<std::string> next_of(http::BodyStream& stream) {
  auto piece = co_await stream.next();
  if (!piece) co_return "(cut)";
  co_return *piece ? std::move(**piece) : "(end)";
}

inline HttpCall get(std::string url) {
  HttpCall call;
  call.url = std::move(url);
  call.timeout = kBroken;
  return call;
}

}  // namespace slipway::net

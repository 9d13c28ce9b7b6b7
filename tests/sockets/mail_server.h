// A small SMTP server on the loopback: STARTTLS, TLS, login; it keeps what it is told.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/smtp.h"
#include "server_fixture.h"

namespace slipway::net {

/// What the server offers, and how it takes what it is told.
struct Habit {
  std::string auth{};  // "PLAIN LOGIN"; empty: no login
  bool has_starttls = false;
  bool is_tls = false;                           // from the first byte
  std::map<std::string, std::string> replies{};  // by the beginning of a command, instead of the usual one
};

/// Serves one connection; `heard` are the commands, the mail as one of them.
class MailServer {
 public:
  MailServer(Env& env, Habit habit, std::optional<TlsContext> tls)
      : habit_(std::move(habit)), tls_(std::move(tls)), listener_(*Listener::open(env, "127.0.0.1", 0)) {}

  std::uint16_t port() const { return listener_.port(); }
  std::vector<std::string> heard;

  Task<> serve() {
    auto accepted = co_await listener_.accept();
    CO_ASSERT(accepted.has_value());
    stream_ = *accepted;
    if (habit_.is_tls) {
      const auto begun = co_await stream_->start_tls(*tls_, "", std::nullopt);
      if (!begun) co_return listener_.close();
    }
    co_await say("220 ready");
    while (auto line = co_await read()) {
      heard.push_back(*line);
      if (!co_await answer(*line)) break;
    }
    stream_->close();
    listener_.close();
  }
  void stop() { listener_.close(); }

 private:
  Task<> say(std::string text) { (void)co_await stream_->write(text + "\r\n", kBroken); }

  Task<std::optional<std::string>> read(std::string_view end = "\r\n") {
    for (;;) {
      if (const auto at = input_.find(end); at != std::string::npos) {
        std::string text = input_.substr(0, at);
        input_.erase(0, at + end.size());
        co_return text;
      }
      const auto more = co_await stream_->read(input_, 4096, std::nullopt);
      if (!more || *more == 0) co_return std::nullopt;
    }
  }

  std::string extensions() const {
    std::string text = "250-here\r\n";
    if (habit_.has_starttls && !stream_->is_tls()) text += "250-STARTTLS\r\n";
    if (!habit_.auth.empty()) text += "250-AUTH " + habit_.auth + "\r\n";
    return text + "250 8BITMIME";
  }

  Task<bool> answer(std::string line) {
    for (const auto& [command, reply] : habit_.replies) {
      if (!line.starts_with(command)) continue;
      co_await say(reply);
      co_return true;
    }
    if (line.starts_with("EHLO")) {
      co_await say(extensions());
    } else if (line == "STARTTLS") {
      co_await say("220 go on");
      const auto begun = co_await stream_->start_tls(*tls_, "", std::nullopt);
      co_return begun.has_value();
    } else if (line == "AUTH LOGIN") {
      for (const char* asked : {"334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6"}) {
        co_await say(asked);
        heard.push_back((co_await read()).value_or(""));
      }
      co_await say("235 fine");
    } else if (line.starts_with("AUTH")) {
      co_await say("235 fine");
    } else if (line == "DATA") {
      co_await say("354 go on");
      heard.push_back((co_await read("\r\n.\r\n")).value_or("cut"));
      co_await say("250 taken");
    } else if (line == "QUIT") {
      co_await say("221 bye");
      co_return false;
    } else {
      co_await say("250 fine");
    }
    co_return true;
  }

  Habit habit_;
  std::optional<TlsContext> tls_;
  Listener listener_;
  std::shared_ptr<Stream> stream_;
  std::string input_;
};

/// Runs `client` on the logic thread while the server serves its one connection; ends both.
inline void run_beside(os::RealEnv& real, MailServer& server, const std::function<Task<>()>& client) {
  const auto all = [&]() -> Task<> {
    Tasks tasks(real.env());
    tasks.spawn(server.serve());
    co_await client();
    server.stop();
    co_await tasks.join();
  };
  boost::asio::co_spawn(real.env().executor, all(), [&](std::exception_ptr error) {
    EXPECT_FALSE(error);
    real.stop();
  });
  real.run();
}

}  // namespace slipway::net

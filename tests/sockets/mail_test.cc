// Mail over real sockets: a small SMTP server on the loopback, with STARTTLS, TLS from the start and login.
#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/text.h"
#include "net/smtp.h"
#include "server_fixture.h"

namespace slipway::net {
namespace {

/// What the server offers, and how it takes what it is told.
struct Habit {
  std::string auth{};  // "PLAIN LOGIN"; empty: no login
  bool has_starttls = false;
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

struct Sent {
  Status error{};  // empty message: it was sent
  std::vector<std::string> heard;
};

Mail hello(std::uint16_t port) {
  return {.host = "127.0.0.1",
          .port = port,
          .user = "me@example.test",
          .password = "secret",
          .from = "me@example.test",
          .from_name = "Me",
          .to = {"you@example.test", "her@example.test"},
          .subject = "Grüße",
          .body = "<b>done</b>\n.\n"};
}

/// The authority that signs the servers' certificates.
const KeyPair& authority(Time now) {
  static const KeyPair made = make_authority("mail-ca", now);
  return made;
}

Sent sent(const Habit& habit, const std::function<void(Mail&)>& change = {}, TlsClientOptions tls = {}) {
  os::RealEnv real({.log_level = LogLevel::Error});
  Env& env = real.env();
  const Time now = env.clock.now();
  const KeyPair pair = *issue(authority(now), {.common_name = "mail", .names = server_names({}), .now = now});
  MailServer server(env, habit, *TlsContext::server({.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem}));
  Sent result;
  const auto all = [&]() -> Task<> {
    Tasks tasks(env);
    tasks.spawn(server.serve());
    Mail mail = hello(server.port());
    if (change) change(mail);
    SmtpMailer mailer(env, tls);
    auto done = co_await mailer.send_mail(mail);
    if (!done) result.error = done.error();
    server.stop();
    co_await tasks.join();
  };
  boost::asio::co_spawn(env.executor, all(), [&](std::exception_ptr error) {
    EXPECT_FALSE(error);
    real.stop();
  });
  real.run();
  result.heard = server.heard;
  return result;
}

TlsClientOptions trusting() {
  return {.authority_pem = authority(std::chrono::floor<Duration>(std::chrono::system_clock::now())).certificate_pem};
}

TEST(Mail, is_sent_to_all_receivers_with_login_over_starttls) {
  const Sent told = sent({.auth = "LOGIN PLAIN", .has_starttls = true}, {}, trusting());
  EXPECT_EQ(told.error.message, "");
  ASSERT_EQ(told.heard.size(), 10U);
  const std::string token = base64_encode(std::string("\0me@example.test\0secret", 23));
  EXPECT_EQ(std::vector(told.heard.begin(), told.heard.begin() + 8),
            (std::vector<std::string>{"EHLO localhost", "STARTTLS", "EHLO localhost", "AUTH PLAIN " + token,
                                      "MAIL FROM:<me@example.test>", "RCPT TO:<you@example.test>", "RCPT TO:<her@example.test>",
                                      "DATA"}));
  const std::string& text = told.heard[8];
  EXPECT_TRUE(
      text.starts_with("From: \"Me\" <me@example.test>\r\nTo: you@example.test,\r\n her@example.test\r\n"
                       "Subject: =?UTF-8?B?R3LDvMOfZQ==?=\r\nDate: "))
      << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\n" + base64_encode("<b>done</b>\n.\n"))) << text;
  EXPECT_EQ(told.heard.back(), "QUIT");
}

TEST(Mail, logs_in_word_by_word_where_the_server_wants_that) {
  const Sent told = sent({.auth = "LOGIN"});
  EXPECT_EQ(told.error.message, "");
  ASSERT_GE(told.heard.size(), 4U);
  EXPECT_EQ(told.heard[2], base64_encode("me@example.test"));
  EXPECT_EQ(told.heard[3], base64_encode("secret"));
}

TEST(Mail, goes_without_login_where_none_is_asked_for) {
  const Sent told = sent({});
  EXPECT_EQ(told.error.message, "");
  EXPECT_EQ(told.heard[1], "MAIL FROM:<me@example.test>");
}

TEST(Mail, believes_no_stranger) {
  const Sent told = sent({.auth = "PLAIN", .has_starttls = true});
  EXPECT_EQ(told.error.reason, Reason::Unauthorized) << told.error.message;
  for (const std::string& line : told.heard) EXPECT_FALSE(line.starts_with("AUTH")) << line;
}

TEST(Mail, tells_what_the_server_refuses) {
  const Sent login = sent({.auth = "PLAIN", .replies = {{"AUTH", "535 wrong password"}}});
  EXPECT_EQ(login.error.reason, Reason::Unauthorized);
  EXPECT_TRUE(login.error.message.ends_with("AUTH: 535 wrong password")) << login.error.message;
  const Sent receiver = sent({.replies = {{"RCPT TO:<her", "550-no such\r\n550 user"}}});
  EXPECT_EQ(receiver.error.reason, Reason::Invalid);
  EXPECT_TRUE(receiver.error.message.ends_with("RCPT her@example.test: 550 no such")) << receiver.error.message;
  const Sent later = sent({.replies = {{"MAIL", "451 later"}}});
  EXPECT_EQ(later.error.reason, Reason::ServiceUnavailable);
  const Sent babble = sent({.replies = {{"EHLO", "hello"}}});
  EXPECT_TRUE(babble.error.message.contains("does not speak SMTP")) << babble.error.message;
}

TEST(Mail, that_could_break_out_of_its_line_is_refused) {
  const std::pair<const char*, std::function<void(Mail&)>> rows[] = {
      {"to: a mail has a receiver", [](Mail& mail) { mail.to.clear(); }},
      {"to[0]: \"a@b>\r\nDATA\" is no mail address", [](Mail& mail) { mail.to = {"a@b>\r\nDATA"}; }},
      {"from.address: \"me\" is no mail address", [](Mail& mail) { mail.from = "me"; }},
      {"content.subject: must be one line", [](Mail& mail) { mail.subject = "a\r\nBcc: b@c"; }},
      {"from.alias: must be one line, without quotes", [](Mail& mail) { mail.from_name = "a\" <x@y>"; }},
  };
  for (const auto& [message, change] : rows) {
    Mail mail = hello(25);
    change(mail);
    const auto checked = check_mail(mail);
    ASSERT_FALSE(checked) << message;
    EXPECT_EQ(checked.error().message, message);
  }
}

}  // namespace
}  // namespace slipway::net

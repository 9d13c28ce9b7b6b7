// Mail over real sockets: a small SMTP server on the loopback, with STARTTLS, TLS from the start and login.
#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/text.h"
#include "mail_server.h"
#include "net/smtp.h"

namespace slipway::net {
namespace {

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
  run_beside(real, server, [&]() -> Task<> {
    Mail mail = hello(server.port());
    if (change) change(mail);
    SmtpMailer mailer(env, tls);
    auto done = co_await mailer.send_mail(mail);
    if (!done) result.error = done.error();
  });
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

TEST(Mail, is_sent_over_tls_from_the_first_byte_at_any_port) {
  const auto over_tls = [](Mail& mail) { mail.is_tls = true; };
  const Sent told = sent({.auth = "PLAIN", .is_tls = true}, over_tls, trusting());
  EXPECT_EQ(told.error.message, "");
  ASSERT_EQ(told.heard.size(), 8U);
  EXPECT_EQ(told.heard[0], "EHLO localhost");
  EXPECT_TRUE(told.heard[1].starts_with("AUTH PLAIN ")) << told.heard[1];
  EXPECT_EQ(told.heard.back(), "QUIT");
  const Sent stranger = sent({.auth = "PLAIN", .is_tls = true}, over_tls);
  EXPECT_EQ(stranger.error.reason, Reason::Unauthorized) << stranger.error.message;
  EXPECT_TRUE(stranger.heard.empty());
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

// A notice over a real connection to an SMTP server.
#include <gtest/gtest.h>

#include "../sockets/mail_server.h"
#include "base/digest.h"
#include "delivery/probe/notify.h"
#include "net/outside.h"

namespace slipway::net {
namespace {

/// Holds one Secret.
class OneSecret : public client::Client {
 public:
  json::Value secret;
  Task<Result<client::Reply>> call(client::Request) override { co_return client::Reply{.object = secret, .warnings = {}}; }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override {
    co_return fail(Reason::NotImplemented, "nothing is watched here");
  }
};

TEST(MailNotice, arrives_with_login_from_a_secret) {
  os::RealEnv real({.log_level = LogLevel::Error});
  Env& env = real.env();
  MailServer server(env, {.auth = "PLAIN"}, std::nullopt);
  OneSecret cluster;
  cluster.secret = json::object({{"stringData", json::object({{"address", "smtp://127.0.0.1:" + std::to_string(server.port())},
                                                              {"username", "robot"},
                                                              {"password", "secret"}})}});
  Result<void> told;
  run_beside(real, server, [&]() -> Task<> {
    auto outside = Outside::make(env, {}, {});
    CO_ASSERT(outside.has_value());
    const delivery::probe::Notifier notifier{
        .type = "email", .secret_ref = json::object({{"name", "post"}}), .from = "me@a.test", .to = {"you@a.test"}};
    const delivery::probe::Notice notice{
        .name = "web", .ns = "shop", .phase = "rolloutSucceed", .text = "web-v2 is rolled out"};
    told = co_await delivery::probe::notify({.env = env, .client = cluster, .http = outside->get()}, notifier, notice);
  });
  EXPECT_TRUE(told) << told.error().message;
  const std::string token = base64_encode(std::string("\0robot\0secret", 13));
  ASSERT_EQ(server.heard.size(), 7U);
  EXPECT_EQ(server.heard[1], "AUTH PLAIN " + token);
  EXPECT_EQ(server.heard[3], "RCPT TO:<you@a.test>");
  const std::string& text = server.heard[5];
  EXPECT_TRUE(text.contains("From: \"slipway\" <me@a.test>\r\n")) << text;
  EXPECT_TRUE(text.contains("Subject: web.shop: web-v2 is rolled out\r\n")) << text;
  EXPECT_TRUE(text.contains(base64_encode("<p>web-v2 is rolled out</p>").substr(0, 32))) << text;
}

}  // namespace
}  // namespace slipway::net

#include "delivery/probe/notify.h"

#include <gtest/gtest.h>

#include "delivery/probe/mail_notice.h"
#include "delivery/probe/paper_test.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

const Notice kNotice{.name = "web",
                     .ns = "shop",
                     .phase = "batchReady",
                     .text = "batch 2 of 5 is ready",
                     .severity = Severity::Warn,
                     .facts = {{"batch", "2"}}};

struct NoticeRow {
  const char* type;
  const char* body;
};

// The forms that the services document for their incoming webhooks.
TEST(Notify, each_service_gets_its_form) {
  const NoticeRow kRows[] = {
      {"slack",
       R"({"username":"slipway","attachments":[{"color":"#daa038","author_name":"web.shop","text":"batch 2 of 5 is ready",
                   "mrkdwn_in":["text"],"fields":[{"title":"batch","value":"2","short":true}]}],"channel":"#ops"})"},
      {"rocketchat", R"({"alias":"slipway","attachments":[{"color":"#daa038","title":"web.shop","text":"batch 2 of 5 is ready",
                        "fields":[{"title":"batch","value":"2","short":true}]}],"channel":"#ops"})"},
      {"discord", R"({"username":"slipway","embeds":[{"title":"web.shop","description":"batch 2 of 5 is ready","color":14327864,
                     "fields":[{"name":"batch","value":"2","inline":true}]}]})"},
      {"teams", R"({"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":{
                   "type":"AdaptiveCard","version":"1.4","body":[
                   {"type":"TextBlock","text":"web.shop","weight":"bolder","wrap":true},
                   {"type":"TextBlock","text":"batch 2 of 5 is ready","weight":"default","wrap":true},
                   {"type":"FactSet","facts":[{"title":"batch","value":"2"}]}]}}]})"},
      {"googlechat", R"({"cardsV2":[{"cardId":"web.shop","card":{"header":{"title":"web.shop","subtitle":"slipway"},"sections":[
                        {"widgets":[{"textParagraph":{"text":"batch 2 of 5 is ready"}},
                        {"decoratedText":{"topLabel":"batch","text":"2"}}]}]}}]})"},
      {"webhook", R"({"name":"web","namespace":"shop","phase":"batchReady","severity":"warn","text":"batch 2 of 5 is ready",
                     "metadata":{"batch":"2"}})"},
  };
  for (const NoticeRow& row : kRows) {
    const auto body = notice_body({.type = row.type, .channel = "#ops"}, kNotice);
    ASSERT_TRUE(body) << row.type;
    EXPECT_EQ(*body, json::parse(row.body).value()) << row.type << "\n" << json::print(*body);
  }
  EXPECT_EQ(notice_body({.type = "email"}, kNotice).error().reason, Reason::NotImplemented);
  EXPECT_EQ(notice_body({.type = "event"}, kNotice).error().reason, Reason::NotImplemented);
}

TEST(Notify, only_what_is_severe_enough_is_told) {
  EXPECT_TRUE(is_wanted({.type = "slack"}, kNotice));
  EXPECT_TRUE(is_wanted({.type = "slack", .severity = "warn"}, kNotice));
  EXPECT_FALSE(is_wanted({.type = "slack", .severity = "error"}, kNotice));
}

TEST(Notify, faults_are_found_before) {
  const auto faults = [](const Notifier& notifier) {
    std::string out;
    for (const Cause& cause : check(notifier, "n")) out += cause.field + ": " + cause.message;
    return out;
  };
  EXPECT_EQ(faults({.type = "slack", .url = "http://x"}), "");
  EXPECT_EQ(faults({.type = "event"}), "");
  EXPECT_EQ(faults({.type = "slack"}), "n.url: Required value: exactly one of url and secretRef must be set");
  EXPECT_EQ(faults({.type = "email"}),
            "n.url: Required value: the mail server, here or as key address of secretRef"
            "n.from: Required value: the sender's address"
            "n.to: Required value: the addresses of those who get it");
  for (const char* url : {"http://mail.test", "smtp://", "smtp://u:p@mail.test", "smtp://mail.test:0", "smtp://mail.test:x",
                          "smtp://mail.test/box", "smtp://[::1"}) {
    EXPECT_EQ(faults({.type = "email", .url = url, .from = "me@a.test", .to = {"you@a.test"}}),
              "n.url: Forbidden: must be smtp://HOST:PORT or smtps://HOST:PORT")
        << url;
  }
}

/// Takes mails instead of delivering them.
class PaperPost : public PaperWeb, public Mailer {
 public:
  std::vector<Mail> mails;
  Status refusal{};  // empty message: none

  Mailer* mailer() override { return this; }

  Task<Result<void>> send_mail(Mail mail) override {
    mails.push_back(std::move(mail));
    if (!refusal.message.empty()) co_return fail(refusal.reason, refusal.message);
    co_return Result<void>{};
  }
};

class MailNotices : public testing::Test {
 public:
  void TearDown() override { env_.drop_all(); }
  Result<void> tell(const Notifier& notifier) {
    return env_.run(notify({.env = env_, .client = hub_, .http = &post_}, notifier, kNotice));
  }

 protected:
  ManualEnv env_;
  PaperCluster hub_;
  PaperPost post_;
};

TEST_F(MailNotices, a_mail_says_what_and_where) {
  ASSERT_TRUE(tell({.type = "email", .url = "smtp://mail.test:2525", .from = "me@a.test", .to = {"you@a.test", "her@a.test"}}));
  ASSERT_EQ(post_.mails.size(), 1U);
  const Mail& mail = post_.mails.front();
  EXPECT_EQ(mail.host, "mail.test");
  EXPECT_EQ(mail.port, 2525);
  EXPECT_EQ(mail.user, "");
  EXPECT_EQ(mail.from, "me@a.test");
  EXPECT_EQ(mail.from_name, "slipway");
  EXPECT_EQ(mail.to, (std::vector<std::string>{"you@a.test", "her@a.test"}));
  EXPECT_EQ(mail.subject, "web.shop: batch 2 of 5 is ready");
  EXPECT_EQ(
      mail.body,
      "<p>batch 2 of 5 is ready</p>\n<table>\n<tr><td>name</td><td>web</td></tr>\n<tr><td>namespace</td><td>shop</td></tr>\n"
      "<tr><td>phase</td><td>batchReady</td></tr>\n<tr><td>batch</td><td>2</td></tr>\n</table>\n");
}

TEST_F(MailNotices, server_and_login_may_be_a_secret) {
  hub_.objects["secrets/shop/post"] =
      json::object({{"stringData", json::object({{"where", "smtps://[::1]"}, {"username", "robot"}, {"password", "secret"}})}});
  const Notifier notifier{.type = "email",
                          .secret_ref = json::object({{"name", "post"}, {"key", "where"}}),
                          .username = "Deploys",
                          .from = "me@a.test",
                          .to = {"you@a.test"}};
  ASSERT_TRUE(tell(notifier));
  const Mail& mail = post_.mails.at(0);
  EXPECT_EQ(mail.host, "::1");
  EXPECT_EQ(mail.port, 465);
  EXPECT_TRUE(mail.is_tls);
  EXPECT_EQ(mail.user, "robot");
  EXPECT_EQ(mail.password, "secret");
  EXPECT_EQ(mail.from_name, "Deploys");
  hub_.objects.clear();
  EXPECT_FALSE(tell(notifier));
  EXPECT_EQ(post_.mails.size(), 1U);
}

TEST_F(MailNotices, the_scheme_says_whether_it_is_tls_and_not_the_port) {
  Notifier notifier{.type = "email", .url = "smtps://mail.test:2465", .from = "me@a.test", .to = {"you@a.test"}};
  const auto mail = mail_of(notifier, kNotice, {});
  ASSERT_TRUE(mail);
  EXPECT_EQ(mail->port, 2465);
  EXPECT_TRUE(mail->is_tls);
  notifier.url = "smtp://mail.test:2465";
  EXPECT_FALSE(mail_of(notifier, kNotice, {})->is_tls);
}

TEST_F(MailNotices, what_the_server_says_is_told) {
  post_.refusal.reason = Reason::Unauthorized;
  post_.refusal.message = "535 wrong password";
  const Notifier notifier{.type = "email", .url = "smtp://mail.test", .from = "me@a.test", .to = {"you@a.test"}};
  EXPECT_EQ(tell(notifier).error().message, "notifier email: 535 wrong password");
}

TEST_F(MailNotices, names_and_texts_are_no_markup) {
  Notice notice = kNotice;
  notice.text = "a <b> & c\nBcc: all@a.test";
  const Notifier notifier{.type = "email", .url = "smtp://mail.test", .from = "me@a.test", .to = {"you@a.test"}};
  const auto mail = mail_of(notifier, notice, {});
  ASSERT_TRUE(mail);
  EXPECT_EQ(mail->subject, "web.shop: a <b> & c Bcc: all@a.test");
  EXPECT_TRUE(mail->body.starts_with("<p>a &lt;b&gt; &amp; c\nBcc: all@a.test</p>")) << mail->body;
}

TEST(Notify, the_url_may_be_a_secret_and_stays_one) {
  ManualEnv env;
  PaperCluster hub;
  PaperWeb web;
  hub.objects["secrets/shop/chat"] = json::object({{"stringData", json::object({{"address", "http://chat.test/token"}})}});
  const Notifier notifier{.type = "slack", .secret_ref = json::object({{"name", "chat"}})};
  const auto told = [&] { return env.run(notify({.env = env, .client = hub, .http = &web}, notifier, kNotice)); };
  EXPECT_TRUE(told());
  EXPECT_EQ(web.calls.at(0).url, "http://chat.test/token");
  EXPECT_EQ(web.calls.at(0).method, "POST");
  web.replies = {{404, "no_service"}};
  EXPECT_EQ(told().error().message, "notifier slack: 404 Not Found") << "servers repeat what they refuse";
  web.replies = {{0, ""}};
  EXPECT_EQ(told().error().message, "notifier slack cannot be reached");
  env.drop_all();
}

}  // namespace
}  // namespace slipway::delivery::probe

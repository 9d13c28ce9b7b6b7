#include "delivery/probe/notify.h"

#include <gtest/gtest.h>

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

struct Row {
  const char* type;
  const char* body;
};

// The forms that the services document for their incoming webhooks.
TEST(Notify, each_service_gets_its_form) {
  const Row kRows[] = {
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
  for (const Row& row : kRows) {
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
  EXPECT_EQ(faults({.type = "email"}), "n.type: Forbidden: no mail is sent; use type webhook with a mail gateway");
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
  EXPECT_EQ(told().error().message, "notifier slack: 404 Not Found: no_service");
  web.replies = {{0, ""}};
  EXPECT_EQ(told().error().message, "notifier slack cannot be reached");
  env.drop_all();
}

}  // namespace
}  // namespace slipway::delivery::probe

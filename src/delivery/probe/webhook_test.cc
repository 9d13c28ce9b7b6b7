#include "delivery/probe/webhook.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/gate/corpus_test.h"
#include "delivery/probe/paper_test.h"

namespace slipway::delivery::probe {
namespace {

using namespace std::chrono_literals;
using gate::Verdict;
using json::Value;

class WebhookTest : public testing::Test {
 protected:
  WebhookTest() {
    question.gate.name = "smoke";
    question.gate.webhook = gate::WebhookGate{.url = "http://hooks.test/smoke", .metadata = {{"team", "shop"}}};
    question.key = "uid-1/2/3/before/smoke";
    question.name = "web";
    question.ns = "shop";
    question.phase = "batchInitializing";
  }
  ~WebhookTest() override { env.drop_all(); }
  Answer asked() { return env.run(ask({.env = env, .client = hub, .http = &web}, question)); }

  ManualEnv env;
  PaperCluster hub;
  PaperWeb web;
  Question question;
};

TEST_F(WebhookTest, sends_who_asks_with_the_key_of_the_question) {
  asked();
  asked();
  ASSERT_EQ(web.calls.size(), 2U);
  const HttpCall& call = web.calls[0];
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.url, "http://hooks.test/smoke");
  EXPECT_EQ(call.body, R"({"name":"web","namespace":"shop","phase":"batchInitializing","metadata":{"team":"shop"}})");
  EXPECT_EQ(call.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(call.headers.get("Idempotency-Key"), "uid-1/2/3/before/smoke");
  EXPECT_FALSE(call.headers.contains(kSignatureHeader));
  EXPECT_EQ(web.calls[1].headers, call.headers) << "a try that is made again looks the same";
}

TEST_F(WebhookTest, the_body_is_signed_with_the_secret) {
  question.gate.webhook->secret_ref = json::object({{"name", "hook"}, {"key", "hmac"}});
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Unknown) << "the Secret is not there";
  hub.objects["secrets/shop/hook"] = json::object({{"data", json::object({{"hmac", "a2V5"}})}});  // "key"
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Pass);
  ASSERT_EQ(web.calls.size(), 1U) << "nothing is sent unsigned";
  // printf %s BODY | openssl dgst -sha256 -hmac key
  EXPECT_EQ(web.calls[0].headers.get(kSignatureHeader),
            "sha256=9580de028a87c96a4c33790e3fdbcc9ab59565d91e6177382ff35c5725e20840");
}

struct Row {
  int status;
  std::vector<std::int64_t> expected;
  Verdict::Kind kind;
};

TEST_F(WebhookTest, what_an_answer_means) {
  using enum Verdict::Kind;
  const Row kRows[] = {{200, {}, Pass},    {202, {}, Pass},   {204, {}, Pass},  {299, {}, Pass},         {301, {}, Wait},
                       {400, {}, Fail},    {403, {}, Fail},   {404, {}, Fail},  {408, {}, Wait},         {429, {}, Wait},
                       {500, {}, Wait},    {503, {}, Wait},   {0, {}, Unknown}, {404, {404, 410}, Pass}, {200, {404}, Wait},
                       {403, {404}, Fail}, {503, {503}, Pass}};
  for (const Row& row : kRows) {
    question.gate.webhook->expected_status = row.expected;
    web.replies = {{row.status, "no"}};
    const Answer answer = asked();
    EXPECT_EQ(answer.verdict.kind, row.kind) << row.status << ": " << answer.verdict.text;
    EXPECT_EQ(answer.ask_again.has_value(), row.kind == Wait || row.kind == Unknown) << row.status;
  }
}

TEST_F(WebhookTest, tries_are_made_further_and_further_apart) {
  web.replies = {{503, "down for\nmaintenance"}};
  std::vector<Duration> waits;
  for (question.tries = 0; question.tries < 9; ++question.tries) waits.push_back(asked().ask_again.value());
  EXPECT_EQ(waits, (std::vector<Duration>{1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}));
  EXPECT_EQ(asked().verdict.text, "POST http://hooks.test/smoke: 503 Service Unavailable: down for maintenance");
}

TEST_F(WebhookTest, texts_show_no_query_and_no_password_of_the_url) {
  question.gate.webhook->url = "http://ci:PASSWORD@hooks.test/smoke?token=SECRET#SECRET";
  for (const PaperWeb::Reply& reply : {PaperWeb::Reply{503, "down"}, PaperWeb::Reply{403, ""}, PaperWeb::Reply{0, ""}}) {
    web.replies = {reply};
    const std::string text = asked().verdict.text;
    EXPECT_TRUE(text.starts_with("POST http://hooks.test/smoke: ")) << text;
  }
  EXPECT_EQ(web.calls.back().url, "http://ci:PASSWORD@hooks.test/smoke?token=SECRET#SECRET") << "it is called as written";
  EXPECT_EQ(web.calls.back().max_answer_bytes, kMaxGateAnswer);
}

TEST_F(WebhookTest, without_a_web_it_says_so) {
  const Answer answer = env.run(ask({.env = env, .client = hub}, question));
  EXPECT_EQ(answer.verdict.kind, Verdict::Kind::Unknown);
  EXPECT_EQ(answer.verdict.text, "calls of foreign servers are not available here");
}

TEST_F(WebhookTest, hooks_of_the_corpus_pass_and_fail_as_in_the_oam_rollout) {
  const Value hooks = gate::corpus_cases("oam-lifecycle.json", "TestCallWebhook");
  if (hooks.empty()) GTEST_SKIP() << "no corpus";
  std::size_t passed = 0;
  std::size_t all = 0;
  const auto count = [&](bool is_same, const Value& row) {
    EXPECT_TRUE(is_same) << json::print(row);
    passed += is_same ? 1 : 0;
    ++all;
  };
  for (const Value& row : hooks.items()) {
    web.replies = {{.status = static_cast<int>(row["returnedStatusCode"].as_int())}};
    count((asked().verdict.kind == Verdict::Kind::Pass) == row["wantErr"].is_null(), row);
  }
  // What the call gives is judged one floor up there: an answer is known with its status, no answer is tried again.
  for (const Value& row : gate::corpus_cases("oam-lifecycle.json", "TestMakeHTTPRequest").items()) {
    const bool has_answer = row["want"]["err"].is_null();
    web.replies = {{.status = has_answer ? static_cast<int>(row["want"]["statusCode"].as_int()) : 0}};
    const Answer answer = asked();
    count(has_answer ? answer.status == row["want"]["statusCode"].as_int()
                     : answer.verdict.kind == Verdict::Kind::Unknown && answer.ask_again.has_value(),
          row);
  }
  fmt::print("rollouts/oam-lifecycle/hooks {}/{}\n", passed, all);
}

}  // namespace
}  // namespace slipway::delivery::probe

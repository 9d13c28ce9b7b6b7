#include "delivery/probe/webhook.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "delivery/probe/secret.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using gate::Verdict;

constexpr std::size_t kShownHookBytes = 160;

std::string hmac_hex(std::string_view key, std::string_view text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       out, &size);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", out[i]);
  return hex;
}

}  // namespace

HttpCall webhook_call(const Question& question, std::string_view secret) {
  const gate::WebhookGate& webhook = *question.gate.webhook;
  json::ObjectBuilder metadata;
  for (const auto& [name, value] : webhook.metadata) metadata.set(name, value);
  HttpCall call{
      .url = webhook.url,
      .method = webhook.method,
      .body = json::print(json::object(
          {{"name", question.name}, {"namespace", question.ns}, {"phase", question.phase}, {"metadata", metadata.build()}})),
      .timeout = std::chrono::seconds{webhook.timeout_seconds},
      .max_answer_bytes = kMaxGateAnswer,
      .use = CallUse::Webhook};
  call.headers.set("Content-Type", "application/json");
  call.headers.set("Idempotency-Key", question.key);
  if (!secret.empty()) call.headers.set(std::string(kSignatureHeader), "sha256=" + hmac_hex(secret, call.body));
  return call;
}

Duration back_off(std::int64_t tries) {
  constexpr std::int64_t kMostDoublings = 6;
  return std::min<Duration>(std::chrono::seconds{1LL << std::clamp<std::int64_t>(tries, 0, kMostDoublings)},
                            std::chrono::minutes{1});
}

Task<Answer> ask_webhook(Reach reach, Question question) {
  const gate::WebhookGate& webhook = *question.gate.webhook;
  const auto unknown = [&](std::string text) {
    return Answer{.verdict = {Verdict::Kind::Unknown, std::move(text), ""}, .ask_again = back_off(question.tries)};
  };
  if (reach.http == nullptr) co_return unknown("calls of foreign servers are not available here");
  std::string secret;
  if (webhook.secret_ref) {
    auto read = co_await read_secret(reach.client, question.ns, *webhook.secret_ref);
    const std::string key = (*webhook.secret_ref)["key"].str();
    if (!read) co_return unknown(read.error().message);
    if (!read->contains(key)) co_return unknown(fmt::format("the Secret has no key \"{}\"", key));
    secret = (*read)[key];
  }
  auto response = co_await reach.http->send(webhook_call(question, secret));
  const std::string where = fmt::format("{} {}", webhook.method, shown_url(webhook.url));
  if (!response) co_return unknown(fmt::format("{}: {}", where, response.error().message));
  std::string text = fmt::format("{}: {} {}", where, response->status, http::status_text(response->status));
  Answer answer{.verdict = gate::webhook_verdict(webhook, response->status, text), .status = response->status};
  const bool is_odd = answer.verdict.kind != Verdict::Kind::Pass && !response->body.empty();
  if (is_odd) answer.verdict.text += fmt::format(": {}", shortened(response->body, kShownHookBytes));
  if (answer.verdict.kind == Verdict::Kind::Wait) answer.ask_again = back_off(question.tries);
  co_return answer;
}

}  // namespace slipway::delivery::probe

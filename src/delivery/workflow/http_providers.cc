// vela/http. Calls that may change something are made at least once and carry an idempotency key, which is the same whenever
// the call is made again; once answered, they are not made again.
#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>

#include "base/digest.h"
#include "base/http_trust.h"
#include "base/text.h"
#include "client/client.h"
#include "delivery/workflow/provider.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace slipway::delivery::workflow {
namespace {

/// When calls were made, by method and URL.
using Calls = std::map<std::string, std::deque<Steady>>;
/// Of which times are kept.
constexpr std::size_t kMaxLimitedUrls = 128;

bool is_safe(std::string_view method) { return method == "GET" || method == "HEAD"; }

/// Notes a call unless there have been `limit` within the period.
Result<void> keep_rate(Calls& calls, const HttpCall& call, const Value& rate, Steady now) {
  if (rate.is_null()) return {};
  SLIPWAY_TRY(period, parse_duration(rate["period"].as_string()));
  if (calls.size() > kMaxLimitedUrls) calls.clear();
  auto& times = calls[fmt::format("{} {}", call.method, call.url.substr(0, call.url.find('?')))];
  while (!times.empty() && times.front() + period <= now) times.pop_front();
  if (static_cast<std::int64_t>(times.size()) >= rate["limit"].as_int()) {
    return fail(Reason::TooManyRequests, "request exceeds the rate limiter");
  }
  times.push_back(now);
  return {};
}

Task<Result<void>> add_secret_headers(const CallSetting& setting, Value list, http::Headers& headers) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value item = list.item(i);
    SLIPWAY_CO_TRY(hub, setting.on(""));
    SLIPWAY_CO_TRY(secret,
                   co_await client::get(*hub, kube::kSecrets, {std::string(kube::ns(setting.owner)), item["secret"].str()}));
    std::string value;
    if (!base64_decode(secret["data"][item["key"].as_string()].as_string(), value) || value.empty()) {
      co_return fail(Reason::NotFound,
                     fmt::format("secret {} has no key {}", item["secret"].as_string(), item["key"].as_string()));
    }
    headers.set((item.has("name") ? item["name"] : item["header"]).str(), value);
  }
  co_return Result<void>{};
}

/// What the Secret of `tls_config` {secret, namespace} holds: ca.crt, and client.crt with client.key. Nullopt without one.
Task<Result<std::optional<HttpTrust>>> trust_of(const CallSetting& setting, Value config) {
  if (config.is_null()) co_return std::nullopt;
  std::string ns = config["namespace"].str();
  if (ns.empty()) ns = kube::ns(setting.owner);
  SLIPWAY_CO_TRY(hub, setting.on(""));
  SLIPWAY_CO_TRY(secret, co_await client::get(*hub, kube::kSecrets, {ns, config["secret"].str()}));
  HttpTrust trust;
  const std::pair<const char*, std::string*> keys[] = {
      {"ca.crt", &trust.authority_pem}, {"client.crt", &trust.certificate_pem}, {"client.key", &trust.key_pem}};
  for (const auto& [key, text] : keys) {
    if (!base64_decode(secret["data"][key].as_string(), *text)) {
      co_return fail(Reason::Invalid,
                     fmt::format("tls_config: key {} of secret {} is not base64", key, config["secret"].as_string()));
    }
  }
  if (trust.authority_pem.empty()) {
    co_return fail(Reason::NotFound, fmt::format("tls_config: secret {} has no key ca.crt", config["secret"].as_string()));
  }
  co_return trust;
}

Value lists_of(const http::Headers& headers) {
  std::map<std::string, json::ArrayBuilder> values;
  for (const auto& [name, value] : headers) values[name].add(value);
  json::ObjectBuilder lists;
  for (const auto& [name, value] : headers) {
    if (!values[name].empty()) lists.add(name, values[name].build());
  }
  return lists.build();
}

Task<Answer> request(std::shared_ptr<Calls> calls, ProviderCall call) {
  const CallSetting& setting = call.setting;
  if (setting.http == nullptr) co_return Answer::error("calls of foreign servers are not available here");
  const Value wanted = call.params["request"];
  HttpCall outgoing{.url = call.params["url"].str(),
                    .method = call.params["method"].str(),
                    .body = wanted["body"].str(),
                    .max_answer_bytes = kMaxStepAnswer};
  if (outgoing.method.empty()) outgoing.method = "GET";
  if (const std::string timeout = wanted["timeout"].str(); !timeout.empty()) {
    auto parsed = parse_duration(timeout);
    if (!parsed) co_return Answer::error(parsed.error().message);
    outgoing.timeout = *parsed;
  }
  for (const auto& [name, value] : wanted["header"].members()) outgoing.headers.add(std::string(name), value.str());
  if (wanted["header"].is_null()) outgoing.headers.set("Content-Type", "application/json");
  if (auto added = co_await add_secret_headers(setting, wanted["headersFromSecret"], outgoing.headers); !added) {
    co_return Answer::error(added.error().message);
  }
  if (!is_safe(outgoing.method) && !outgoing.headers.contains("Idempotency-Key")) {
    outgoing.headers.add("Idempotency-Key",
                         sha256_hex(fmt::format("{}/{}/{}", kube::uid(setting.owner), call.step_id, call.path)).substr(0, 32));
  }
  if (auto rate = keep_rate(*calls, outgoing, wanted["ratelimiter"], setting.env.clock.steady()); !rate) {
    co_return Answer::error(rate.error().message);
  }
  const std::string named = fmt::format("{} \"{}\"", outgoing.method, outgoing.url);
  auto trust = co_await trust_of(setting, call.params["tls_config"]);
  if (!trust) co_return Answer::error(trust.error().message);
  auto answered = *trust ? co_await setting.http->send_trusting(std::move(outgoing), std::move(**trust))
                         : co_await setting.http->send(std::move(outgoing));
  if (!answered) co_return Answer::error(fmt::format("{}: {}", named, answered.error().message));
  Value response = json::object({{"body", answered->body},
                                 {"header", lists_of(answered->headers)},
                                 {"trailer", Value::empty_object()},
                                 {"statusCode", answered->status}});
  co_return Answer::done(std::move(response));
}

}  // namespace

std::vector<Provider> http_providers() {
  const auto calls = std::make_shared<Calls>();
  return {{.package = "http",
           .function = "do",
           .params = {"method", "url", "request", "tls_config"},
           .run = [calls](ProviderCall call) { return request(calls, std::move(call)); },
           .is_once = [](const Value& params) { return params.has("method") && !is_safe(params["method"].as_string()); }}};
}

}  // namespace slipway::delivery::workflow

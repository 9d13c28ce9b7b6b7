#include "delivery/probe/measure.h"

#include <fmt/format.h>

#include "base/text.h"
#include "delivery/probe/builtin_queries.h"
#include "delivery/probe/oauth.h"
#include "delivery/probe/provider.h"
#include "delivery/probe/secret.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

inline const client::Resource kMetricTemplates{"flagger.app", "v1beta1", "metrictemplates"};

/// Who is asked: from the gate or from its template.
struct Source {
  std::string provider;
  std::string address;
  std::string text;
  Value settings{};
  Value secret_ref{};
  std::string ns;  // of the Secret
  bool is_template = false;
  bool is_foreign = false;  // a template of another namespace: the gate only says how its number is read
};

Task<Result<Source>> source_of(client::Client& client, gate::MetricGate metric, std::string ns) {
  if (!metric.template_ref) {
    co_return Source{.provider = metric.provider,
                     .address = metric.address,
                     .text = metric.query,
                     .settings = metric.settings.value_or(Value()),
                     .secret_ref = metric.secret_ref.value_or(Value()),
                     .ns = ns};
  }
  const Value reference = *metric.template_ref;
  const std::string own = ns;
  if (reference.has("namespace")) ns = reference["namespace"].str();
  auto found = co_await client::get(client, kMetricTemplates, {ns, reference["name"].str()});
  if (!found) {
    Status error = std::move(found).error();
    error.message = fmt::format("MetricTemplate {}/{}: {}", ns, reference["name"].as_string(), error.message);
    co_return fail(std::move(error));
  }
  const Value& provider = (*found)["spec"]["provider"];
  if (provider["insecureSkipVerify"].as_bool()) {
    co_return fail(Reason::NotImplemented, "insecureSkipVerify is not supported; let the server's authority be trusted");
  }
  const bool is_foreign = ns != own;
  Value settings = metric.settings.value_or(Value());
  // They say where credentials go and what is asked with them: of another namespace's that is not the gate's to say.
  for (const char* part : {"authentication", "headers", "method", "body"}) {
    if (is_foreign) settings = settings.without(part);
  }
  for (const char* part : {"headers", "region"}) {
    if (provider.has(part)) settings = settings.with(part, provider[part]);
  }
  co_return Source{.provider = provider["type"].str(),
                   .address = provider["address"].str(),
                   .text = (*found)["spec"]["query"].str(),
                   .settings = settings,
                   .secret_ref = provider["secretRef"],
                   .ns = ns,
                   .is_template = true,
                   .is_foreign = is_foreign};
}

/// The window of queries: the gate's interval, but never further back than numbers count.
Duration window(const gate::MetricGate& metric, Time now, Time data_since) {
  const Duration since = std::max<Duration>(now - data_since, std::chrono::seconds{1});
  return std::chrono::floor<std::chrono::seconds>(std::min(metric.interval, since));
}

std::map<std::string, std::string> variables_of(const Question& question, Duration interval) {
  std::map<std::string, std::string> out = question.variables;
  out.try_emplace("name", question.name);
  out.try_emplace("namespace", question.ns);
  out.try_emplace("interval", fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(interval).count()));
  return out;
}

Result<HttpCall> call_of(const Provider& provider, const Query& query) {
  if (query.address.empty() && provider.is_addressed) {
    return fail(Reason::Invalid, fmt::format("provider {} needs an address", provider.name));
  }
  if (!query.address.empty() && !query.address.starts_with("http://") && !query.address.starts_with("https://")) {
    return fail(Reason::Invalid,
                query.address_secret.empty()
                    ? fmt::format("address {:?} is no http:// or https:// URL", query.address)
                    : fmt::format("the address of Secret {} is no http:// or https:// URL", query.address_secret));
  }
  SLIPWAY_TRY(call, provider.request(query));
  const std::int64_t seconds = query.settings["timeoutSeconds"].as_int(provider.timeout_seconds);
  call.timeout = seconds_saturating(std::max<std::int64_t>(seconds, 1));
  call.max_answer_bytes = kMaxGateAnswer;
  call.use = CallUse::Metric;
  add_headers(call.headers, query.settings["headers"]);
  return call;
}

/// Whether the answer has a value of the Secret in it. Short ones occur by accident.
bool repeats_secret(std::string_view body, const Query& query) {
  return std::ranges::any_of(query.credentials,
                             [body](const auto& one) { return one.second.size() >= 8 && body.contains(one.second); });
}

/// What a transport's failure was, without a name of the peer.
std::string_view without_host(Reason reason) {
  if (reason == Reason::Timeout) return "no answer within the time-out";
  if (reason == Reason::Unauthorized) return "the certificate is not trusted";
  if (reason == Reason::RequestEntityTooLarge) return "the answer is too large";
  if (reason == Reason::BadRequest) return "it cannot be called so";
  return "cannot be reached";
}

Task<Result<Extracted>> fetch(Reach reach, std::string ns, const Provider* provider, Query query, std::string token) {
  if (provider->read != nullptr) co_return co_await provider->read(reach.client, std::move(ns), std::move(query));
  SLIPWAY_CO_TRY(call, call_of(*provider, query));
  if (!token.empty()) call.headers.set("Authorization", token);
  const bool is_secret = !query.address_secret.empty();
  const std::string where =
      fmt::format("{} {}", call.method, is_secret ? "address of Secret " + query.address_secret : shown_url(call.url));
  auto response = co_await reach.http->send(call);
  if (!response) {
    // The transport's message names the host.
    const std::string why = is_secret ? std::string(without_host(response.error().reason)) : response.error().message;
    co_return fail(response.error().reason, fmt::format("{}: {}", where, why));
  }
  // Servers repeat what they refuse.
  const bool has_secrets = !query.credentials.empty() || !token.empty();
  SLIPWAY_CO_TRY_VOID(check_status(where, response->status, has_secrets ? "" : response->body));
  // What is extracted is shown where it is no number.
  if (repeats_secret(response->body, query))
    co_return fail(Reason::Invalid, where + ": the answer repeats a value of the Secret");
  co_return provider->extract(response->body, query);
}

}  // namespace

Task<Result<Measurement>> measure(Reach reach, Question question) {
  const gate::MetricGate& metric = *question.gate.metric;
  SLIPWAY_CO_TRY(source, co_await source_of(reach.client, metric, question.ns));
  SLIPWAY_CO_TRY(provider, find_provider(source.provider, source.settings));
  if (provider->request == nullptr && provider->read == nullptr) {
    co_return fail(Reason::Invalid, fmt::format("a MetricTemplate cannot use provider {}", provider->name));
  }
  if (reach.http == nullptr) co_return fail(Reason::ServiceUnavailable, "calls of foreign servers are not available here");
  const Time now = reach.env.clock.now();
  Query query{.address = source.address.empty() ? std::string(provider->address) : source.address,
              .settings = source.settings,
              .now = now,
              .interval = window(metric, now, question.data_since)};
  // SignalFlow's addresses name its WebSocket; the same server is asked over HTTP.
  if (query.address.starts_with("wss://")) query.address.replace(0, 3, "https");
  while (query.address.ends_with('/')) query.address.pop_back();
  auto variables = variables_of(question, query.interval);
  SLIPWAY_CO_TRY(text, query_text(source.text, variables));
  query.text = text;
  if (!source.secret_ref.is_null()) {
    SLIPWAY_CO_TRY(credentials, co_await read_secret(reach.client, source.ns, source.secret_ref));
    query.credentials = credentials;
    if (const auto found = credentials.find("address"); found != credentials.end()) {
      query.address = found->second;
      query.address_secret = source.secret_ref["name"].str();
    }
  }
  SLIPWAY_CO_TRY(token, co_await fetch_token(*reach.http, {source.settings, query.credentials, provider->token_scope, now}));
  const Reducer reducer = source.is_template ? provider->template_reducer : provider->reducer;
  SLIPWAY_CO_TRY(extracted, co_await fetch(reach, question.ns, provider, query, token));
  Measurement out;
  out.measured.newest = extracted.newest;
  SLIPWAY_CO_TRY(value, reduced(extracted, source.settings, reducer));
  out.measured.value = value;
  if (metric.baseline_query.empty() || source.is_foreign) co_return out;
  for (const auto& [name, changed] : question.baseline_variables) variables[name] = changed;
  SLIPWAY_CO_TRY(baseline_text, query_text(metric.baseline_query, variables));
  query.text = baseline_text;
  SLIPWAY_CO_TRY(baseline, co_await fetch(reach, question.ns, provider, query, token));
  SLIPWAY_CO_TRY(baseline_value, reduced(baseline, source.settings, reducer));
  out.measured.baseline = baseline_value;
  co_return out;
}

}  // namespace slipway::delivery::probe

#include "delivery/probe/oauth.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/probe/provider.h"
#include "delivery/probe/secret.h"
#include "delivery/probe/service_account.h"
#include "json/text.h"

namespace slipway::delivery::probe {

HttpCall token_call(const json::Value& oauth2, const std::map<std::string, std::string>& credentials) {
  const auto get = [&](const char* name) {
    const auto found = credentials.find(name);
    return found == credentials.end() ? oauth2[name].str() : found->second;
  };
  std::vector<std::string> scopes;
  for (const json::Value& scope : oauth2["scopes"].items()) scopes.push_back(scope.str());
  HttpCall call{.url = oauth2["tokenUrl"].str(), .method = "POST", .body = "grant_type=client_credentials"};
  if (!scopes.empty()) call.body += "&scope=" + percent_encoded(joined(scopes, " "));
  const std::string client = fmt::format("{}:{}", percent_encoded(get("clientId")), percent_encoded(get("clientSecret")));
  call.headers.set("Authorization", "Basic " + base64_encode(client));
  call.headers.set("Content-Type", "application/x-www-form-urlencoded");
  call.headers.set("Accept", "application/json");
  return call;
}

namespace {

/// What gives the token; nullopt: none is asked for.
Result<std::optional<HttpCall>> token_request(const TokenQuery& query) {
  const json::Value& authentication = query.settings["authentication"];
  const auto key = query.credentials.find("serviceAccountKey");
  if (authentication.is_null() && !query.scope.empty() && key != query.credentials.end()) {
    SLIPWAY_TRY(call, service_account_call(key->second, query.scope, query.now));
    return std::optional(call);
  }
  if (authentication.is_null()) return std::optional<HttpCall>();
  const json::Value& oauth2 = authentication["oauth2"];
  if (oauth2.is_object()) return std::optional(token_call(oauth2, query.credentials));
  return fail(Reason::NotImplemented, "settings.authentication is implemented for oauth2; else put a token into the Secret");
}

}  // namespace

Task<Result<std::string>> fetch_token(HttpClient& http, TokenQuery query) {
  SLIPWAY_CO_TRY(call, token_request(query));
  if (!call) co_return std::string();
  call->max_answer_bytes = kMaxGateAnswer;
  call->use = CallUse::Metric;
  const std::string where = shown_url(call->url);
  auto response = co_await http.send(*call);
  if (!response) co_return fail(response.error().reason, fmt::format("token of {}: {}", where, response.error().message));
  SLIPWAY_CO_TRY_VOID(check_status(fmt::format("{} {}", call->method, where), response->status, ""));  // it was sent a secret
  SLIPWAY_CO_TRY(answer, json::parse(response->body));
  const std::string token = answer["access_token"].str();
  if (token.empty()) co_return fail(Reason::Invalid, fmt::format("{} gives no access_token", where));
  co_return "Bearer " + token;
}

}  // namespace slipway::delivery::probe

// A bearer token by client credentials (RFC 6749, section 4.4), for providers that want one: the gate's
// settings.authentication.oauth2 {tokenUrl, clientId, clientSecret, scopes}; id and secret may stand in the gate's Secret as
// clientId and clientSecret instead. Or by the key of a service account (service_account.h), where a row has a scope for it and
// the Secret a serviceAccountKey.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/http_client.h"
#include "base/time.h"
#include "json/value.h"

namespace slipway::delivery::probe {

/// The request for a token.
HttpCall token_call(const json::Value& oauth2, const std::map<std::string, std::string>& credentials);
/// Who asks for a token, and with what.
struct TokenQuery {
  json::Value settings{};
  std::map<std::string, std::string> credentials{};
  std::string_view scope{};  // of the provider; empty: it knows no service accounts
  Time now{};
};
/// The Authorization header for calls; empty when nothing asks for a token. One request; tokens are not kept.
Task<Result<std::string>> fetch_token(HttpClient& http, TokenQuery query);

}  // namespace slipway::delivery::probe

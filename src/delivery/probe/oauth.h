// A bearer token by client credentials (RFC 6749, section 4.4), for providers that want one: the gate's
// settings.authentication.oauth2 {tokenUrl, clientId, clientSecret, scopes}; id and secret may stand in the gate's Secret as
// clientId and clientSecret instead.
#pragma once

#include <map>
#include <string>

#include "base/http_client.h"
#include "json/value.h"

namespace slipway::delivery::probe {

/// The request for a token.
HttpCall token_call(const json::Value& oauth2, const std::map<std::string, std::string>& credentials);
/// The Authorization header for calls; empty when `settings` asks for no token. One request; tokens are not kept.
Task<Result<std::string>> fetch_token(HttpClient& http, json::Value settings, std::map<std::string, std::string> credentials);

}  // namespace slipway::delivery::probe

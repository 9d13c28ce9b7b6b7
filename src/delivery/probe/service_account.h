// A bearer token for a service account of Google Cloud: a JWT signed with the account's key is exchanged for it (RFC 7523;
// "Using OAuth 2.0 for Server to Server Applications"). The key is the JSON file that Google gives out.
#pragma once

#include <string>
#include <string_view>

#include "base/http_client.h"
#include "base/time.h"

namespace slipway::delivery::probe {

/// The request for a token; its answer has `access_token`, as RFC 6749 has it. Invalid: the file lacks a field or its key is no
/// RSA key in PEM.
Result<HttpCall> service_account_call(std::string_view key_file, std::string_view scope, Time now);

}  // namespace slipway::delivery::probe

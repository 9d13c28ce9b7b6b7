// Calls of HTTP servers that are trusted otherwise than all others: with an authority of their own, or with a certificate that
// the caller shows. An HttpClient may be able to do that; send_trusting finds out.
#pragma once

#include <string>

#include "base/http_client.h"

namespace slipway {

struct HttpTrust {
  std::string authority_pem{};    // empty: the system's
  std::string certificate_pem{};  // shown to the server, with `key_pem`
  std::string key_pem{};
  bool is_insecure = false;  // believes any server

  auto operator<=>(const HttpTrust&) const = default;
};

class TrustingHttpClient {
 public:
  virtual ~TrustingHttpClient() = default;
  /// As HttpClient::send. BadRequest when a certificate or key cannot be read.
  virtual Task<Result<http::Response>> send_trusting(HttpCall call, HttpTrust trust) = 0;
};

/// NotImplemented when this client trusts all servers alike. `http` outlives the call.
inline Task<Result<http::Response>> send_trusting(HttpClient& http, HttpCall call, HttpTrust trust) {
  auto* trusting = dynamic_cast<TrustingHttpClient*>(&http);
  if (trusting == nullptr) co_return fail(Reason::NotImplemented, "certificates of one's own are not available here");
  co_return co_await trusting->send_trusting(std::move(call), std::move(trust));
}

}  // namespace slipway

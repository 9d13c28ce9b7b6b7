// Whom a call of an HTTP server trusts, where that is not whom all other calls trust: an authority of its own, a certificate
// that the caller shows (HttpClient::send_trusting).
#pragma once

#include <string>

namespace slipway {

struct HttpTrust {
  std::string authority_pem{};    // empty: the system's
  std::string certificate_pem{};  // shown to the server, with `key_pem`
  std::string key_pem{};
  bool is_insecure = false;  // believes any server

  auto operator<=>(const HttpTrust&) const = default;
};

}  // namespace slipway

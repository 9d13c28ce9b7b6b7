// TLS contexts: which certificate a side shows, and whom it believes. TLS 1.2 and newer, HTTP/1.1 by ALPN, no session tickets
// or caches (a handshake costs little with P-256, and an idle connection then keeps no session state).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"

struct ssl_ctx_st;
struct ssl_st;

namespace slipway::net {

struct TlsServerOptions {
  std::string certificate_pem{};  // with intermediates after it
  std::string key_pem{};
  /// Asks clients for a certificate and checks it against these; showing none, or a wrong one, does not end the handshake:
  /// PeerCertificate::is_verified tells. Empty: not asked for.
  std::string client_authority_pem{};
};

struct TlsClientOptions {
  std::string authority_pem{};  // empty: the system's
  std::string certificate_pem{};
  std::string key_pem{};
  std::string server_name{};  // checked instead of the host of the URL; empty: that host
  bool is_insecure = false;   // believes any server
};

/// The certificate that the other side has shown.
struct PeerCertificate {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string sha256;  // of the DER form, lower-case hexadecimal
  bool is_verified = false;
  std::string problem;  // why not
};

/// Shared, never changed: copies are cheap. Connections keep theirs alive.
class TlsContext {
 public:
  /// BadRequest when a PEM cannot be read or key and certificate do not belong together; the message says which.
  static Result<TlsContext> server(const TlsServerOptions& options);
  static Result<TlsContext> client(const TlsClientOptions& options);

  /// A fresh session over the socket `descriptor` (non-blocking). For a client `host` is what the certificate must name.
  std::shared_ptr<ssl_st> session(int descriptor, const std::string& host) const;
  bool is_server() const { return is_server_; }

 private:
  std::shared_ptr<ssl_ctx_st> context_;
  /// Of a client that trusts as the system does: its certificates (some hundred, 20 ms and megabytes) are read when the first
  /// session is made. Null for the others.
  std::shared_ptr<std::once_flag> system_trust_;
  std::string server_name_;
  bool is_server_ = false;
  bool is_insecure_ = false;
};

/// nullopt-like when the peer showed none: an empty sha256.
PeerCertificate peer_certificate(ssl_st* session);
/// The first error in OpenSSL's queue, which is emptied.
std::string tls_error_text();

}  // namespace slipway::net

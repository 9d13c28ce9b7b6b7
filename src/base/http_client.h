// Calling foreign HTTP servers, as an interface: room net implements it over sockets, tests and the simulator answer from
// memory. Certificates, proxies and pools are the implementation's matter (net/client.h).
#pragma once

#include <string>

#include "base/http.h"
#include "base/http_trust.h"

namespace slipway {

class Mailer;

struct HttpCall {
  std::string url;  // http:// or https://, without a fragment; its path and query become the target
  std::string method = "GET";
  http::Headers headers{};
  std::string body{};
  /// Until the head of the answer has come; without `is_streaming` until its body has, too.
  Duration timeout = std::chrono::seconds{30};
  /// The answer's body comes as `stream`, without a limit on its length; otherwise whole, in `body`.
  bool is_streaming = false;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// An answer of any status. Errors are the transport's: ServiceUnavailable (no connection, cut), Timeout, BadRequest (the
  /// URL), RequestEntityTooLarge (the answer), Unauthorized (the server's certificate). Redirects are not followed. The effect
  /// of a call that failed may have happened; only GET and HEAD are ever sent twice.
  virtual Task<Result<http::Response>> send(HttpCall call) = 0;
  /// As send, with other trust. BadRequest when a certificate or key cannot be read; NotImplemented when this client trusts all
  /// servers alike.
  virtual Task<Result<http::Response>> send_trusting(HttpCall /*call*/, HttpTrust /*trust*/) {
    co_return fail(Reason::NotImplemented, "certificates of one's own are not available here");
  }
  /// Who may call foreign servers may send mail. Null when this client only calls HTTP servers.
  virtual Mailer* mailer() { return nullptr; }
};

}  // namespace slipway

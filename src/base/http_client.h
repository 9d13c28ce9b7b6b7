// Calling foreign HTTP servers, as an interface: room net implements it over sockets, tests and the simulator answer from
// memory. Certificates, proxies and pools are the implementation's matter (net/client.h).
#pragma once

#include <cstdint>
#include <string>

#include "base/http.h"
#include "base/http_trust.h"

namespace slipway {

class Mailer;

/// Bytes of an answer (docs/security.md) for a step of a workflow, and for a gate, a token of its, or a notifier.
inline constexpr std::uint64_t kMaxStepAnswer = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxGateAnswer = std::uint64_t{512} << 10;

/// What a call is for, which says how long it may take at most (net::OutgoingLimits).
enum class CallUse : std::uint8_t { Step, Metric, Webhook };

struct HttpCall {
  std::string url;  // http:// or https://, without a fragment; its path and query become the target
  std::string method = "GET";
  http::Headers headers{};
  std::string body{};
  /// Until the head of the answer has come; without `is_streaming` until its body has, too.
  Duration timeout = std::chrono::seconds{30};
  /// The answer's body comes as `stream`, without a limit on its length; otherwise whole, in `body`.
  bool is_streaming = false;
  /// Of a whole body, counted while it is read; 0: as many as the client takes. Bodies are not decompressed.
  std::uint64_t max_answer_bytes = 0;
  CallUse use = CallUse::Step;  // also of what is none of the three: forges, indexes of charts, files by URL
  /// For whom: a tenant has a limited number of calls under way, and a host that hangs is left alone for that tenant only
  /// (TenantHttp fills it in). Empty: for the process itself, without these limits.
  std::string tenant{};
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// An answer of any status. Errors are the transport's: ServiceUnavailable (no connection, cut), Timeout, BadRequest (the
  /// URL, a method that is no token, a header that would end its line), RequestEntityTooLarge (the answer), Unauthorized (the
  /// server's certificate). Redirects are not followed. The effect of a call that failed may have happened; only GET and HEAD
  /// are ever sent twice.
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

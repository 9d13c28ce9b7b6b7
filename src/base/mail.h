// Sending mail, as an interface: room net implements it over SMTP, tests answer from memory. HttpClient::mailer() gives the one
// that steps send with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/http_client.h"

namespace slipway {

struct Mail {
  std::string host;
  std::uint16_t port = 25;
  bool is_tls = false;     // from the first byte, as "smtps://"; port 465 is always
  std::string user{};      // empty: no login
  std::string password{};  // empty: likewise
  std::string from;        // address, as those in `to`: "ann@example.org"
  std::string from_name{};
  std::vector<std::string> to;
  std::string subject{};  // UTF-8
  std::string body{};     // HTML in UTF-8, as KubeVela sends it
  Duration timeout = std::chrono::seconds{30};
  std::string tenant{};  // as HttpCall::tenant
};

class Mailer {
 public:
  virtual ~Mailer() = default;
  /// Returns when the server has taken the mail for all receivers. Errors: Invalid (an address; the server refuses the mail for
  /// good), Unauthorized (user and password, or the server's certificate), ServiceUnavailable (no connection, the server asks
  /// to try again), Timeout. After ServiceUnavailable or Timeout the mail may have been taken.
  virtual Task<Result<void>> send_mail(Mail mail) = 0;
};

}  // namespace slipway

// All that steps may reach outside of clusters, as one object: HTTP servers, trusted as the system does or as the caller says,
// and mail. Tenants take turns (net/outgoing.h), and no call takes longer than OutsideTimes says.
#pragma once

#include <map>
#include <memory>

#include "base/http_trust.h"
#include "base/outside_times.h"
#include "net/client.h"
#include "net/outgoing.h"
#include "net/smtp.h"

namespace slipway::net {

class Outside : public HttpClient, public Mailer {
 public:
  /// Bytes of an answer to callers that set no limit of their own: indexes of charts, forges.
  static constexpr std::uint64_t kMaxAnswer = std::uint64_t{16} << 20;

  /// BadRequest as Client::make.
  static Result<std::unique_ptr<Outside>> make(Env& env, ClientOptions options, OutsideTimes times);

  /// BadRequest: a streamed answer, which would have no end.
  Task<Result<http::Response>> send(HttpCall call) override;
  Task<Result<http::Response>> send_trusting(HttpCall call, HttpTrust trust) override;
  Mailer* mailer() override { return this; }
  Task<Result<void>> send_mail(Mail mail) override;

 private:
  Outside(Env& env, ClientOptions options, OutsideTimes times, std::unique_ptr<Client> client);
  Task<Result<http::Response>> send_in_turn(std::shared_ptr<Client> client, HttpCall call);

  Env& env_;
  ClientOptions options_;
  OutsideTimes times_;
  Outgoing outgoing_;
  std::shared_ptr<Client> client_;
  std::map<HttpTrust, std::shared_ptr<Client>> trusting_;  // at most kMaxTrusts
  SmtpMailer mailer_;
};

}  // namespace slipway::net

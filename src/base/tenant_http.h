// An HttpClient and Mailer for one tenant: what is sent through it counts as that tenant's (HttpCall::tenant).
#pragma once

#include <string>

#include "base/http_client.h"
#include "base/mail.h"

namespace slipway {

class TenantHttp : public HttpClient, public Mailer {
 public:
  /// `http` outlives this. An empty tenant is the process itself.
  TenantHttp(HttpClient& http, std::string tenant) : http_(http), tenant_(std::move(tenant)) {}

  Task<Result<http::Response>> send(HttpCall call) override {
    call.tenant = tenant_;
    return http_.send(std::move(call));
  }
  Task<Result<http::Response>> send_trusting(HttpCall call, HttpTrust trust) override {
    call.tenant = tenant_;
    return http_.send_trusting(std::move(call), std::move(trust));
  }
  Mailer* mailer() override { return http_.mailer() == nullptr ? nullptr : this; }
  /// REQUIRES: mailer() is not null.
  Task<Result<void>> send_mail(Mail mail) override {
    mail.tenant = tenant_;
    return http_.mailer()->send_mail(std::move(mail));
  }

 private:
  HttpClient& http_;
  std::string tenant_;
};

}  // namespace slipway

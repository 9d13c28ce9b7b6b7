// Mail over SMTP (RFC 5321): one connection for each mail. Port 465 is TLS from the start; elsewhere STARTTLS is used where the
// server offers it (RFC 3207). Logs in with PLAIN or LOGIN where the server asks for it (RFC 4954), but never shows a password
// on a connection that is neither encrypted nor on this machine.
#pragma once

#include <string>

#include "base/env.h"
#include "base/mail.h"
#include "net/tls.h"

namespace slipway {
class AddressPolicy;
}

namespace slipway::net {

class SmtpMailer : public Mailer {
 public:
  /// `addresses`: which servers may be called; null: any. Outlives the mailer.
  explicit SmtpMailer(Env& env, TlsClientOptions tls = {}, const AddressPolicy* addresses = nullptr)
      : env_(env), tls_(std::move(tls)), addresses_(addresses) {}
  Task<Result<void>> send_mail(Mail mail) override;

 private:
  Env& env_;
  TlsClientOptions tls_;
  const AddressPolicy* addresses_;
};

/// The message with its headers (RFC 5322, MIME), lines ending in CRLF, without what SMTP adds. Pure: `id` is the left side of
/// the Message-ID.
std::string mail_text(const Mail& mail, Time now, const std::string& id);
/// Invalid for an address, a name or a subject that could break out of its line.
Result<void> check_mail(const Mail& mail);

}  // namespace slipway::net

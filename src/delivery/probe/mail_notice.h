// The notifier email: a notice as a mail, and the SMTP server that takes it. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mail.h"
#include "delivery/probe/notify.h"

namespace slipway::delivery::probe {

/// What a mail's server needs that is better kept in a Secret: address (as Notifier::url), username, password.
using MailSecret = std::map<std::string, std::string>;

/// The server is smtp://HOST[:PORT] (25 when absent; STARTTLS where it is offered) or smtps://HOST[:PORT] (465): the notifier's
/// url, or the secret's address. Invalid: it is neither; the message does not repeat it.
Result<Mail> mail_of(const Notifier& notifier, const Notice& notice, const MailSecret& secret);
/// What is wrong with a notifier of type email beyond its schema.
std::vector<Cause> check_mail_notifier(const Notifier& notifier, const std::string& field);

}  // namespace slipway::delivery::probe

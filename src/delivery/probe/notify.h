// Telling people: one message in the form that a chat service's incoming webhook takes. Each service is a row with a pure
// builder of its body; sending is one POST, or one mail (mail_notice.h). A message is not waited for and nothing depends on it:
// a failure is the caller's to log.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delivery/probe/probe.h"
#include "json/codec.h"

namespace slipway::delivery::probe {

/// Who is told, as users write it.
struct Notifier {
  std::string type{};
  std::string url{};
  std::optional<json::Value> secret_ref{};
  std::string channel{};
  std::string username{};
  std::string severity = "info";
  std::string from{};
  std::vector<std::string> to{};

  static void describe(auto& d) {
    d.doc("Who is told how it goes.");
    d.field("type", &Notifier::type, "The service.")
        .required()
        .one_of({"slack", "teams", "discord", "rocketchat", "googlechat", "webhook", "event", "email"});
    d.field("url", &Notifier::url,
            "Its incoming webhook, better kept in a Secret; of email smtp://HOST:PORT or smtps://HOST:PORT.");
    d.field("secretRef", &Notifier::secret_ref,
            "Name and key of the Secret that holds the URL; absent key: address. Of email also its username and password.")
        .any_object();
    d.field("channel", &Notifier::channel, "Where there are several.");
    d.field("username", &Notifier::username, "Who is shown as the sender; absent: slipway.");
    d.field("severity", &Notifier::severity, "The least that is told.").one_of({"info", "warn", "error"}).with_default();
    d.field("from", &Notifier::from, "Email: the sender's address.");
    d.field("to", &Notifier::to, "Email: the addresses of those who get it.").list_type("atomic");
  }
};

enum class Severity : std::uint8_t { Info, Warn, Error };

struct Notice {
  std::string name{};  // of the object it is about
  std::string ns{};
  std::string phase{};
  std::string text{};
  Severity severity = Severity::Info;
  std::vector<std::pair<std::string, std::string>> facts{};  // shown as a table
};

/// Whether the notice is severe enough for the notifier.
bool is_wanted(const Notifier& notifier, const Notice& notice);
/// The body for the notifier's service. NotImplemented for email, which has no JSON, and for event, which whoever holds the
/// object records.
Result<json::Value> notice_body(const Notifier& notifier, const Notice& notice);
/// What is wrong with a notifier beyond its schema.
std::vector<Cause> check(const Notifier& notifier, const std::string& field);

/// One try; `reach.http` may be a Mailer too, which email needs. Errors name the service and its answer, not the URL, which is
/// a secret.
Task<Result<void>> notify(Reach reach, Notifier notifier, Notice notice);

}  // namespace slipway::delivery::probe

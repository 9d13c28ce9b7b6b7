#include "delivery/probe/mail_notice.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "delivery/probe/secret.h"

namespace slipway::delivery::probe {
namespace {

constexpr std::uint16_t kPort = 25, kTlsPort = 465;
constexpr std::size_t kSubjectBytes = 160;

struct MailServer {
  std::string host;
  std::uint16_t port = kPort;
  bool is_tls = false;
};

/// nullopt when it is no SMTP URL. "smtp://[::1]:2525" has host "::1".
std::optional<MailServer> server_of(std::string_view url) {
  MailServer server;
  if (url.starts_with("smtps://")) {
    server.port = kTlsPort;
    server.is_tls = true;
    url.remove_prefix(8);
  } else if (url.starts_with("smtp://")) {
    url.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  if (url.ends_with('/')) url.remove_suffix(1);
  if (url.find_first_of("/@?# ") != std::string_view::npos) return std::nullopt;
  const bool is_bracketed = url.starts_with('[');
  const std::size_t end = is_bracketed ? url.find(']') : url.find(':');
  if (is_bracketed && end == std::string_view::npos) return std::nullopt;
  server.host = std::string(is_bracketed ? url.substr(1, end - 1) : url.substr(0, end));
  std::string_view port = end == std::string_view::npos ? std::string_view() : url.substr(end + (is_bracketed ? 1 : 0));
  if (server.host.empty()) return std::nullopt;
  if (port.empty()) return server;
  port.remove_prefix(1);
  const auto [at, error] = std::from_chars(port.data(), port.data() + port.size(), server.port);
  const bool is_number = error == std::errc() && at == port.data() + port.size() && server.port > 0;
  return is_number ? std::optional(server) : std::nullopt;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string body_of(const Notice& notice) {
  std::string body = fmt::format("<p>{}</p>\n<table>\n", escaped(notice.text));
  const auto row = [&](std::string_view key, std::string_view text) {
    body += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(key), escaped(text));
  };
  row("name", notice.name);
  row("namespace", notice.ns);
  row("phase", notice.phase);
  for (const auto& [key, text] : notice.facts) row(key, text);
  return body + "</table>\n";
}

std::string value_at(const MailSecret& secret, const char* key) {
  const auto found = secret.find(key);
  return found == secret.end() ? std::string() : found->second;
}

}  // namespace

Result<Mail> mail_of(const Notifier& notifier, const Notice& notice, const MailSecret& secret) {
  const auto server = server_of(notifier.url.empty() ? value_at(secret, "address") : notifier.url);
  if (!server) return fail(Reason::Invalid, "notifier email: the server must be smtp://HOST:PORT or smtps://HOST:PORT");
  return Mail{.host = server->host,
              .port = server->port,
              .is_tls = server->is_tls,
              .user = value_at(secret, "username"),
              .password = value_at(secret, "password"),
              .from = notifier.from,
              .from_name = notifier.username.empty() ? "slipway" : notifier.username,
              .to = notifier.to,
              .subject = shortened(fmt::format("{}.{}: {}", notice.name, notice.ns, notice.text), kSubjectBytes),
              .body = body_of(notice)};
}

std::vector<Cause> check_mail_notifier(const Notifier& notifier, const std::string& field) {
  std::vector<Cause> causes;
  if (notifier.url.empty() && !notifier.secret_ref) {
    causes.push_back(field::required(field + ".url", "the mail server, here or as key address of secretRef"));
  }
  if (!notifier.url.empty() && !server_of(notifier.url)) {
    causes.push_back(field::forbidden(field + ".url", "must be smtp://HOST:PORT or smtps://HOST:PORT"));
  }
  if (notifier.from.empty()) causes.push_back(field::required(field + ".from", "the sender's address"));
  if (notifier.to.empty()) causes.push_back(field::required(field + ".to", "the addresses of those who get it"));
  return causes;
}

}  // namespace slipway::delivery::probe

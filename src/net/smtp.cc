#include "net/smtp.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count.h"
#include "base/digest.h"
#include "base/text.h"
#include "net/http.h"
#include "net/stream.h"

namespace slipway::net {
namespace {

constexpr std::uint16_t kTlsPort = 465;
constexpr std::size_t kLineLength = 76;            // of base64 in a mail
constexpr std::size_t kMaxPlainHeader = 200;       // longer ones are folded as encoded words
constexpr std::size_t kMaxReplyBytes = 64 * 1024;  // of one reply
constexpr const char* kOwnName = "localhost";      // as gomail, and as most servers take it

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_address(std::string_view text) {
  const auto is_bad = [](char c) { return c == ' ' || c == '<' || c == '>' || c == ',' || c == ';' || c == '"'; };
  const auto at = text.find('@');
  return at != 0 && at != std::string_view::npos && at + 1 < text.size() && !has_control(text) &&
         std::ranges::none_of(text, is_bad);
}

bool is_this_machine(std::string_view host) { return host == "localhost" || host == "127.0.0.1" || host == "::1"; }

/// Text in a header: as it is, or as encoded words (RFC 2047), each of whole characters.
std::string header_text(std::string_view text) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (text.size() <= kMaxPlainHeader && std::ranges::all_of(text, is_plain) && !text.contains("=?")) return std::string(text);
  std::string out;
  while (!text.empty()) {
    std::size_t length = std::min<std::size_t>(text.size(), 42);
    while (length > 1 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) --length;
    out += fmt::format("{}=?UTF-8?B?{}?=", out.empty() ? "" : "\r\n ", base64_encode(text.substr(0, length)));
    text.remove_prefix(length);
  }
  return out;
}

std::string folded_base64(std::string_view bytes) {
  const std::string whole = base64_encode(bytes);
  std::string out;
  for (std::size_t at = 0; at < whole.size(); at += kLineLength) out += whole.substr(at, kLineLength) + "\r\n";
  return out;
}

struct Reply {
  int code = 0;
  std::vector<std::string> lines;  // without the code

  bool offers(std::string_view extension) const { return !find(extension).empty(); }
  /// "AUTH PLAIN LOGIN" for "AUTH".
  std::string find(std::string_view extension) const {
    for (const std::string& line : lines) {
      const std::string word = line.substr(0, line.find_first_of(" ="));
      if (upper(word) == extension) return upper(line);
    }
    return "";
  }
  static std::string upper(std::string text) {
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return text;
  }
};

Status refusal(const Mail& mail, std::string_view what, const Reply& reply) {
  Status error;
  const bool is_login = reply.code == 530 || reply.code == 534 || reply.code == 535;
  error.reason = is_login ? Reason::Unauthorized : reply.code >= 500 ? Reason::Invalid : Reason::ServiceUnavailable;
  error.message = fmt::format("mail server {}:{}: {}: {} {}", mail.host, mail.port, what, reply.code,
                              reply.lines.empty() ? "" : reply.lines.front());
  return error;
}

/// One connection.
class Conversation {
 public:
  Conversation(std::shared_ptr<Stream> stream, Steady deadline) : stream_(std::move(stream)), deadline_(deadline) {}

  Task<Result<Reply>> read_reply() {
    Reply reply;
    std::size_t total = 0;
    while (true) {
      SLIPWAY_CO_TRY(line, co_await read_line());
      total += line.size();
      const bool is_code =
          line.size() >= 3 && std::ranges::all_of(line.substr(0, 3), [](char c) { return c >= '0' && c <= '9'; });
      if (!is_code || total > kMaxReplyBytes) co_return fail(Reason::ServiceUnavailable, "the server does not speak SMTP");
      reply.code = static_cast<int>(leading_count(line.substr(0, 3)));
      if (line.size() > 4) reply.lines.push_back(line.substr(4));
      if (line.size() < 4 || line[3] != '-') co_return reply;
    }
  }

  Task<Result<Reply>> ask(std::string line) {
    SLIPWAY_CO_TRY_VOID(co_await stream_->write(line + "\r\n", left()));
    co_return co_await read_reply();
  }

  Task<Result<void>> start_tls(TlsClientOptions options, std::string host) {
    SLIPWAY_CO_TRY(context, TlsContext::client(options));
    input_.clear();  // nothing that came in the clear is believed
    co_return co_await stream_->start_tls(context, host, deadline_);
  }

  bool is_tls() const { return stream_->is_tls(); }
  void close() { stream_->close(); }

 private:
  Duration left() const { return std::chrono::seconds{10}; }

  Task<Result<std::string>> read_line() {
    for (;;) {
      if (const auto end = input_.find('\n'); end != std::string::npos) {
        std::string line = input_.substr(0, end);
        input_.erase(0, end + 1);
        if (line.ends_with('\r')) line.pop_back();
        co_return line;
      }
      if (input_.size() > kMaxReplyBytes) co_return fail(Reason::ServiceUnavailable, "the server does not speak SMTP");
      SLIPWAY_CO_TRY(read, co_await stream_->read(input_, 4096, deadline_));
      if (read == 0) co_return fail(Reason::ServiceUnavailable, "the mail server has closed the connection");
    }
  }

  std::shared_ptr<Stream> stream_;
  Steady deadline_;
  std::string input_;
};

/// Asks, and takes only a reply of this hundred.
Task<Result<Reply>> ask_for(Conversation& server, const Mail& mail, std::string line, std::string what, int hundred) {
  SLIPWAY_CO_TRY(reply, co_await server.ask(std::move(line)));
  if (reply.code / 100 != hundred) co_return fail(refusal(mail, what, reply));
  co_return reply;
}

Task<Result<void>> log_in(Conversation& server, const Mail& mail, const std::string& offered) {
  if (mail.user.empty() || mail.password.empty() || offered.empty()) co_return Result<void>{};
  if (!server.is_tls() && !is_this_machine(mail.host)) {
    co_return fail(Reason::Unauthorized,
                   fmt::format("mail server {}:{} offers no encryption, and the password is not sent in the "
                               "clear; use its TLS port (465), or leave the password out",
                               mail.host, mail.port));
  }
  if (offered.contains("PLAIN")) {
    const std::string token = std::string(1, '\0') + mail.user + std::string(1, '\0') + mail.password;
    SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, "AUTH PLAIN " + base64_encode(token), "AUTH", 2));
  } else if (offered.contains("LOGIN")) {
    SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, "AUTH LOGIN", "AUTH", 3));
    SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, base64_encode(mail.user), "AUTH", 3));
    SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, base64_encode(mail.password), "AUTH", 2));
  } else {
    co_return fail(Reason::NotImplemented,
                   fmt::format("mail server {}:{} offers {}; PLAIN and LOGIN are known here", mail.host, mail.port, offered));
  }
  co_return Result<void>{};
}

/// Greeting, TLS and login. Gives nothing back that a later step needs.
Task<Result<void>> begin(Conversation& server, const Mail& mail, const TlsClientOptions& tls) {
  if (mail.is_tls || mail.port == kTlsPort) SLIPWAY_CO_TRY_VOID(co_await server.start_tls(tls, mail.host));
  SLIPWAY_CO_TRY(greeting, co_await server.read_reply());
  if (greeting.code / 100 != 2) co_return fail(refusal(mail, "greeting", greeting));
  const std::string hello = fmt::format("EHLO {}", kOwnName);
  SLIPWAY_CO_TRY(extensions, co_await ask_for(server, mail, hello, "EHLO", 2));
  if (!server.is_tls() && extensions.offers("STARTTLS")) {
    SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, "STARTTLS", "STARTTLS", 2));
    SLIPWAY_CO_TRY_VOID(co_await server.start_tls(tls, mail.host));
    SLIPWAY_CO_TRY(anew, co_await ask_for(server, mail, hello, "EHLO", 2));
    extensions = std::move(anew);
  }
  co_return co_await log_in(server, mail, extensions.find("AUTH"));
}

Task<Result<void>> converse(Conversation& server, const Mail& mail, const TlsClientOptions& tls, std::string text) {
  SLIPWAY_CO_TRY_VOID(co_await begin(server, mail, tls));
  SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, fmt::format("MAIL FROM:<{}>", mail.from), "MAIL", 2));
  for (const std::string& to : mail.to) {
    SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, fmt::format("RCPT TO:<{}>", to), fmt::format("RCPT {}", to), 2));
  }
  SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, "DATA", "DATA", 3));
  // No line of the text begins with a dot: headers have names, and the body is base64.
  SLIPWAY_CO_TRY_VOID(co_await ask_for(server, mail, text + ".", "DATA", 2));
  (void)co_await server.ask("QUIT");  // the mail is taken, whatever comes now
  co_return Result<void>{};
}

}  // namespace

Result<void> check_mail(const Mail& mail) {
  if (mail.to.empty()) return fail(Reason::Invalid, "to: a mail has a receiver");
  if (!is_address(mail.from)) return fail(Reason::Invalid, fmt::format("from.address: \"{}\" is no mail address", mail.from));
  for (std::size_t i = 0; i < mail.to.size(); ++i) {
    if (!is_address(mail.to[i])) return fail(Reason::Invalid, fmt::format("to[{}]: \"{}\" is no mail address", i, mail.to[i]));
  }
  if (has_control(mail.from_name) || mail.from_name.contains('"') || mail.from_name.contains('\\')) {
    return fail(Reason::Invalid, "from.alias: must be one line, without quotes");
  }
  if (has_control(mail.subject)) return fail(Reason::Invalid, "content.subject: must be one line");
  if (has_control(mail.user) || has_control(mail.host)) return fail(Reason::Invalid, "from: must be on one line");
  return {};
}

std::string mail_text(const Mail& mail, Time now, const std::string& id) {
  std::string from = fmt::format("<{}>", mail.from);
  if (!mail.from_name.empty()) {
    const std::string name = header_text(mail.from_name);
    from = name == mail.from_name ? fmt::format("\"{}\" {}", name, from) : fmt::format("{} {}", name, from);
  }
  std::string date = http_date(now);
  date.replace(date.size() - 3, 3, "+0000");
  const std::string domain = mail.from.substr(mail.from.find('@') + 1);
  return fmt::format(
             "From: {}\r\nTo: {}\r\nSubject: {}\r\nDate: {}\r\nMessage-ID: <{}@{}>\r\nMIME-Version: 1.0\r\n"
             "Content-Type: text/html; charset=UTF-8\r\nContent-Transfer-Encoding: base64\r\n\r\n",
             from, fmt::join(mail.to, ",\r\n "), header_text(mail.subject), date, id, domain) +
         folded_base64(mail.body);
}

Task<Result<void>> SmtpMailer::send_mail(Mail mail) {
  SLIPWAY_CO_TRY_VOID(check_mail(mail));
  const Steady deadline = env_.clock.steady() + mail.timeout;
  auto stream = co_await Stream::connect(env_, mail.host, std::to_string(mail.port), deadline, addresses_);
  if (!stream) {
    Status error = std::move(stream).error();
    error.message = fmt::format("mail server {}:{}: {}", mail.host, mail.port, error.message);
    co_return fail(std::move(error));
  }
  Conversation server(*stream, deadline);
  const std::string text = mail_text(mail, env_.clock.now(), uuid(env_.random));
  auto sent = co_await converse(server, mail, tls_, text);
  server.close();
  co_return sent;
}

}  // namespace slipway::net

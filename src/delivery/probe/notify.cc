#include "delivery/probe/notify.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/probe/mail_notice.h"
#include "delivery/probe/secret.h"
#include "json/text.h"

namespace slipway::delivery::probe {
namespace {

using json::Value;

constexpr std::string_view kSender = "slipway";
constexpr std::string_view kEmail = "email";
constexpr int kColours[] = {0x2EB886, 0xDAA038, 0xA30200};  // by severity
constexpr std::size_t kShownNoticeBytes = 160;

std::string title(const Notice& notice) { return fmt::format("{}.{}", notice.name, notice.ns); }
int colour(const Notice& notice) { return kColours[static_cast<std::size_t>(notice.severity)]; }
std::string sender(const Notifier& notifier) { return notifier.username.empty() ? std::string(kSender) : notifier.username; }

/// The facts as a list of objects, their two texts under these keys.
json::ArrayBuilder facts(const Notice& notice, const char* name, const char* value, const char* flag = nullptr) {
  json::ArrayBuilder out;
  for (const auto& [key, text] : notice.facts) {
    Value fact = json::object({{name, key}, {value, text}});
    out.add(flag == nullptr ? fact : fact.with(flag, true));
  }
  return out;
}

Value with_channel(Value body, const Notifier& notifier) {
  return notifier.channel.empty() ? body : body.with("channel", notifier.channel);
}

Value slack(const Notifier& notifier, const Notice& notice) {
  const Value attachment = json::object({{"color", fmt::format("#{:06x}", colour(notice))},
                                         {"author_name", title(notice)},
                                         {"text", notice.text},
                                         {"mrkdwn_in", json::array({"text"})},
                                         {"fields", facts(notice, "title", "value", "short").build()}});
  return with_channel(json::object({{"username", sender(notifier)}, {"attachments", json::array({attachment})}}), notifier);
}

Value rocket_chat(const Notifier& notifier, const Notice& notice) {
  const Value attachment = json::object({{"color", fmt::format("#{:06x}", colour(notice))},
                                         {"title", title(notice)},
                                         {"text", notice.text},
                                         {"fields", facts(notice, "title", "value", "short").build()}});
  return with_channel(json::object({{"alias", sender(notifier)}, {"attachments", json::array({attachment})}}), notifier);
}

Value discord(const Notifier& notifier, const Notice& notice) {
  const Value embed = json::object({{"title", title(notice)},
                                    {"description", notice.text},
                                    {"color", colour(notice)},
                                    {"fields", facts(notice, "name", "value", "inline").build()}});
  return json::object({{"username", sender(notifier)}, {"embeds", json::array({embed})}});
}

Value teams(const Notifier&, const Notice& notice) {
  const auto block = [](const std::string& text, const char* weight) {
    return json::object({{"type", "TextBlock"}, {"text", text}, {"weight", weight}, {"wrap", true}});
  };
  const Value table = json::object({{"type", "FactSet"}, {"facts", facts(notice, "title", "value").build()}});
  const Value card =
      json::object({{"type", "AdaptiveCard"},
                    {"version", "1.4"},
                    {"body", json::array({block(title(notice), "bolder"), block(notice.text, "default"), table})}});
  const Value attachment = json::object({{"contentType", "application/vnd.microsoft.card.adaptive"}, {"content", card}});
  return json::object({{"type", "message"}, {"attachments", json::array({attachment})}});
}

Value google_chat(const Notifier& notifier, const Notice& notice) {
  json::ArrayBuilder widgets;
  widgets.add(json::object({{"textParagraph", json::object({{"text", notice.text}})}}));
  for (const auto& [key, text] : notice.facts) {
    widgets.add(json::object({{"decoratedText", json::object({{"topLabel", key}, {"text", text}})}}));
  }
  const Value card = json::object({{"header", json::object({{"title", title(notice)}, {"subtitle", sender(notifier)}})},
                                   {"sections", json::array({json::object({{"widgets", widgets.build()}})})}});
  return json::object({{"cardsV2", json::array({json::object({{"cardId", title(notice)}, {"card", card}})})}});
}

Value webhook(const Notifier&, const Notice& notice) {
  constexpr std::string_view kNames[] = {"info", "warn", "error"};
  json::ObjectBuilder metadata;
  for (const auto& [key, text] : notice.facts) metadata.set(key, text);
  return json::object({{"name", notice.name},
                       {"namespace", notice.ns},
                       {"phase", notice.phase},
                       {"severity", kNames[static_cast<std::size_t>(notice.severity)]},
                       {"text", notice.text},
                       {"metadata", metadata.build()}});
}

struct Row {
  std::string_view type;
  Value (*body)(const Notifier&, const Notice&) = nullptr;
  std::string_view instead{};
};
constexpr Row kRows[] = {
    {"slack", slack},
    {"teams", teams},
    {"discord", discord},
    {"rocketchat", rocket_chat},
    {"googlechat", google_chat},
    {"webhook", webhook},
    {"event", nullptr, "nothing is sent: whoever holds the object records the event"},
    {kEmail, nullptr, "a mail has no body in JSON"},
};

const Row* find_row(const std::string& type) {
  const auto row = std::ranges::find(kRows, type, &Row::type);
  return row == std::end(kRows) ? nullptr : row;
}

Task<Result<std::string>> url_of(client::Client& client, Notifier notifier, std::string ns) {
  if (!notifier.secret_ref) co_return notifier.url;
  SLIPWAY_CO_TRY(secret, co_await read_secret(client, ns, *notifier.secret_ref));
  const std::string key = notifier.secret_ref->has("key") ? (*notifier.secret_ref)["key"].str() : "address";
  const auto found = secret.find(key);
  if (found == secret.end()) co_return fail(Reason::NotFound, fmt::format("the notifier's Secret has no key {}", key));
  co_return found->second;
}

Task<Result<void>> send_mail(Reach reach, Notifier notifier, Notice notice) {
  Mailer* mailer = reach.http == nullptr ? nullptr : reach.http->mailer();
  if (mailer == nullptr) co_return fail(Reason::ServiceUnavailable, "mail cannot be sent from here");
  MailSecret secret;
  if (notifier.secret_ref) {
    SLIPWAY_CO_TRY(read, co_await read_secret(reach.client, notice.ns, *notifier.secret_ref));
    secret = std::move(read);
    const std::string key = (*notifier.secret_ref)["key"].str();
    if (!key.empty()) secret["address"] = secret[key];
  }
  SLIPWAY_CO_TRY(mail, mail_of(notifier, notice, secret));
  auto sent = co_await mailer->send_mail(std::move(mail));
  if (!sent) co_return fail(sent.error().reason, fmt::format("notifier email: {}", sent.error().message));
  co_return Result<void>{};
}

Task<Result<void>> post(Reach reach, Notifier notifier, Notice notice) {
  SLIPWAY_CO_TRY(body, notice_body(notifier, notice));
  SLIPWAY_CO_TRY(url, co_await url_of(reach.client, notifier, notice.ns));
  HttpCall call{.url = url,
                .method = "POST",
                .body = json::print(body),
                .timeout = std::chrono::seconds{10},
                .max_answer_bytes = kMaxGateAnswer,
                .use = CallUse::Webhook};
  call.headers.set("Content-Type", "application/json");
  auto response = co_await reach.http->send(std::move(call));
  if (!response) co_return fail(response.error().reason, fmt::format("notifier {} cannot be reached", notifier.type));
  if (response->status >= 200 && response->status <= 299) co_return Result<void>{};
  const std::string text = notifier.secret_ref ? "" : shortened(response->body, kShownNoticeBytes);
  co_return fail(Reason::ServiceUnavailable, fmt::format("notifier {}: {} {}{}{}", notifier.type, response->status,
                                                         http::status_text(response->status), text.empty() ? "" : ": ", text));
}

}  // namespace

bool is_wanted(const Notifier& notifier, const Notice& notice) {
  const Severity least = notifier.severity == "error"  ? Severity::Error
                         : notifier.severity == "warn" ? Severity::Warn
                                                       : Severity::Info;
  return notice.severity >= least;
}

Result<Value> notice_body(const Notifier& notifier, const Notice& notice) {
  const Row* row = find_row(notifier.type);
  if (row == nullptr) return fail(Reason::Invalid, fmt::format("there is no notifier {}", notifier.type));
  if (row->body == nullptr) return fail(Reason::NotImplemented, fmt::format("notifier {}: {}", row->type, row->instead));
  return row->body(notifier, notice);
}

std::vector<Cause> check(const Notifier& notifier, const std::string& field) {
  std::vector<Cause> causes;
  const Row* row = find_row(notifier.type);
  if (notifier.type == kEmail) return check_mail_notifier(notifier, field);
  if (row == nullptr || row->body == nullptr) return causes;
  if (notifier.url.empty() == !notifier.secret_ref) {
    causes.push_back(field::required(field + ".url", "exactly one of url and secretRef must be set"));
  }
  return causes;
}

Task<Result<void>> notify(Reach reach, Notifier notifier, Notice notice) {
  if (!is_wanted(notifier, notice)) co_return Result<void>{};
  if (reach.http == nullptr) co_return fail(Reason::ServiceUnavailable, "calls of foreign servers are not available here");
  if (notifier.type == kEmail) co_return co_await send_mail(reach, std::move(notifier), std::move(notice));
  co_return co_await post(reach, std::move(notifier), std::move(notice));
}

}  // namespace slipway::delivery::probe

// vela/email: mail over SMTP. Once the server has taken a mail it is not sent again.
#include "base/mail.h"
#include "delivery/workflow/provider.h"

namespace slipway::delivery::workflow {
namespace {

constexpr std::int64_t kMaxPort = 65535;

Task<Answer> send(ProviderCall call) {
  Mailer* mailer = call.setting.http == nullptr ? nullptr : call.setting.http->mailer();
  if (mailer == nullptr) co_return Answer::error("mail cannot be sent from here");
  const Value& from = call.params["from"];
  const Value& content = call.params["content"];
  const std::int64_t port = from["port"].as_int();
  if (port < 1 || port > kMaxPort) co_return Answer::error("from.port: must be between 1 and 65535");
  Mail mail{.host = from["host"].str(),
            .port = static_cast<std::uint16_t>(port),
            .user = from["address"].str(),
            .password = from["password"].str(),
            .from = from["address"].str(),
            .from_name = from["alias"].str(),
            .to = {},
            .subject = content["subject"].str(),
            .body = content["body"].str()};
  for (const Value& one : call.params["to"].items()) mail.to.push_back(one.str());
  const auto sent = co_await mailer->send_mail(std::move(mail));
  // A server that is not there counts as a failure, as a web server that is not there does.
  co_return sent ? Answer::done() : Answer::error(sent.error().message);
}

}  // namespace

std::vector<Provider> email_providers() {
  return {
      {.package = "email", .function = "send", .params = {"from", "to", "content"}, .run = send, .is_once = [](const Value&) {
         return true;
       }}};
}

}  // namespace slipway::delivery::workflow

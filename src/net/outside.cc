#include "net/outside.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/http.h"

namespace slipway::net {
namespace {

constexpr std::size_t kMaxTrusts = 16;  // clients kept, each with its connections

}  // namespace

Outside::Outside(Env& env, ClientOptions options, OutsideTimes times, std::unique_ptr<Client> client)
    : env_(env),
      options_(std::move(options)),
      times_(times),
      outgoing_(env),
      client_(std::move(client)),
      mailer_(env, options_.tls, options_.addresses) {}

Result<std::unique_ptr<Outside>> Outside::make(Env& env, ClientOptions options, OutsideTimes times) {
  options.message.body_bytes = std::min(options.message.body_bytes, kMaxAnswer);
  options.connect_timeout = times.connect;
  SLIPWAY_TRY(client, Client::make(env, options));
  return std::unique_ptr<Outside>(new Outside(env, std::move(options), times, std::move(client)));
}

Task<Result<http::Response>> Outside::send(HttpCall call) { co_return co_await send_in_turn(client_, std::move(call)); }

Task<Result<http::Response>> Outside::send_in_turn(std::shared_ptr<Client> client, HttpCall call) {
  if (call.is_streaming) co_return fail(Reason::BadRequest, "a call outside has no streamed answer");
  SLIPWAY_CO_TRY(url, Url::parse(call.url));
  const Duration longest = times_.of(call.use);
  const bool is_shortened = call.timeout > longest;
  const Steady deadline = env_.clock.steady() + std::min(call.timeout, longest);
  SLIPWAY_CO_TRY(turn, co_await outgoing_.take(call.tenant, url.authority(), deadline));
  call.timeout = deadline - env_.clock.steady();
  auto answer = co_await client->send(std::move(call));
  turn->ended(answer ? nullptr : &answer.error());
  if (!answer && answer.error().reason == Reason::Timeout && is_shortened) {
    answer.error().message += fmt::format(" (after {}, the longest that such a call may take)", to_string(longest));
  }
  co_return answer;
}

Task<Result<void>> Outside::send_mail(Mail mail) {
  const Steady deadline = env_.clock.steady() + std::min(mail.timeout, times_.mail);
  SLIPWAY_CO_TRY(turn, co_await outgoing_.take(mail.tenant, fmt::format("{}:{}", mail.host, mail.port), deadline));
  mail.timeout = deadline - env_.clock.steady();
  auto sent = co_await mailer_.send_mail(std::move(mail));
  turn->ended(sent ? nullptr : &sent.error());
  co_return sent;
}

Task<Result<http::Response>> Outside::send_trusting(HttpCall call, HttpTrust trust) {
  std::shared_ptr<Client> client = trusting_[trust];
  if (!client) {
    ClientOptions options = options_;
    options.tls = {.authority_pem = trust.authority_pem,
                   .certificate_pem = trust.certificate_pem,
                   .key_pem = trust.key_pem,
                   .is_insecure = trust.is_insecure};
    auto made = Client::make(env_, std::move(options));
    trusting_.erase(trust);
    if (!made) co_return fail(std::move(made).error());
    if (trusting_.size() >= kMaxTrusts) trusting_.clear();  // calls in work keep theirs
    client = std::move(*made);
    trusting_[trust] = client;
  }
  co_return co_await send_in_turn(std::move(client), std::move(call));
}

}  // namespace slipway::net

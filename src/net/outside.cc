#include "net/outside.h"

#include <algorithm>

namespace slipway::net {
namespace {

constexpr std::size_t kMaxTrusts = 16;  // clients kept, each with its connections

}  // namespace

Outside::Outside(Env& env, ClientOptions options, std::unique_ptr<Client> client)
    : env_(env), options_(std::move(options)), client_(std::move(client)), mailer_(env, options_.tls, options_.addresses) {}

Result<std::unique_ptr<Outside>> Outside::make(Env& env, ClientOptions options) {
  options.message.body_bytes = std::min(options.message.body_bytes, kMaxAnswer);
  SLIPWAY_TRY(client, Client::make(env, options));
  return std::unique_ptr<Outside>(new Outside(env, std::move(options), std::move(client)));
}

Task<Result<http::Response>> Outside::send(HttpCall call) { co_return co_await client_->send(std::move(call)); }

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
  co_return co_await client->send(std::move(call));
}

}  // namespace slipway::net

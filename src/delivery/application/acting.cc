#include "delivery/application/acting.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"

namespace slipway::delivery::application {
namespace {

/// As the identity, within one namespace; without one nowhere.
class ConfinedClient : public client::Client {
 public:
  ConfinedClient(client::Client& inner, std::shared_ptr<const kube::UserInfo> user, std::string ns, std::string why)
      : inner_(inner), user_(std::move(user)), ns_(std::move(ns)), why_(std::move(why)) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    if (!is_inside(request)) co_return fail(Reason::Forbidden, why_);
    request.user = user_;
    co_return co_await inner_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    if (!is_inside(request)) co_return fail(Reason::Forbidden, why_);
    request.user = user_;
    co_return co_await inner_.watch(std::move(request));
  }

 private:
  bool is_inside(const client::Request& request) const { return !ns_.empty() && request.ns == ns_; }

  client::Client& inner_;
  std::shared_ptr<const kube::UserInfo> user_;
  std::string ns_;
  std::string why_;
};

}  // namespace

Result<client::Client*> Acting::on(const std::string& cluster) {
  SLIPWAY_TRY(client, own(cluster));
  if (!identity_ && why_confined_.empty()) return client;
  auto& as = as_identity_[client];
  if (as) return as.get();
  if (why_confined_.empty()) {
    as = std::make_unique<fleet::IdentityClient>(*client, identity_);
  } else {
    as = std::make_unique<ConfinedClient>(*client, identity_, client == &run_.client ? confined_to_ : "", why_confined_);
  }
  return as.get();
}

void Acting::confine(std::string ns, std::string why) {
  if (!why_confined_.empty()) return;
  confined_to_ = std::move(ns);
  why_confined_ = std::move(why);
  as_identity_.clear();
}

Result<client::Client*> Acting::own(const std::string& cluster) {
  if (cluster.empty() || cluster == kHub) return &run_.client;
  auto found = run_.on(cluster);
  if (!found) return fail(Reason::NotFound, fmt::format("cluster \"{}\" not found", cluster));
  return found;
}

}  // namespace slipway::delivery::application

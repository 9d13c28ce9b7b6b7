#include "delivery/application/acting.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"

namespace slipway::delivery::application {

class Acting::ActingClient : public client::Client {
 public:
  ActingClient(const Acting& acting, client::Client& inner) : acting_(acting), inner_(inner) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    if (!may_reach(request)) co_return fail(Reason::Forbidden, acting_.why_confined_);
    request.user = acting_.identity_;
    co_return co_await inner_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    if (!may_reach(request)) co_return fail(Reason::Forbidden, acting_.why_confined_);
    request.user = acting_.identity_;
    co_return co_await inner_.watch(std::move(request));
  }

 private:
  bool may_reach(const client::Request& request) const {
    if (acting_.why_confined_.empty()) return true;
    return &inner_ == &acting_.run_.client && request.ns == acting_.confined_to_;
  }

  const Acting& acting_;
  client::Client& inner_;
};

Acting::Acting(control::Reconcile& run, std::shared_ptr<const kube::UserInfo> identity)
    : run_(run), identity_(std::move(identity)) {}
Acting::~Acting() = default;

Result<client::Client*> Acting::on(const std::string& cluster) {
  SLIPWAY_TRY(client, own(cluster));
  auto& made = clients_[client];
  if (!made) made = std::make_unique<ActingClient>(*this, *client);
  return made.get();
}

void Acting::confine(std::string ns, std::string why) {
  if (!why_confined_.empty()) return;
  confined_to_ = std::move(ns);
  why_confined_ = std::move(why);
}

Result<client::Client*> Acting::own(const std::string& cluster) {
  if (cluster.empty() || cluster == kHub) return &run_.client;
  auto found = run_.on(cluster);
  if (!found) return fail(Reason::NotFound, fmt::format("cluster \"{}\" not found", cluster));
  return found;
}

}  // namespace slipway::delivery::application

#include "control/acting_client.h"

#include <fmt/format.h>

namespace slipway::control {
namespace {

std::string refusal(const Confinement* confinement, const kube::UserInfo& user) {
  if (confinement != nullptr && !confinement->ns.empty()) return confinement->why;
  return fmt::format("user {} acts with what others wrote, and so reaches no other cluster", user.name);
}

}  // namespace

// A server of this process takes the user from the request. A client of a cluster elsewhere sends impersonation headers
// (remote/request.h), for which its own credentials need the verb impersonate there.

bool ActingClient::admits(client::Request& request) const {
  const bool is_confined = confinement_ != nullptr && !confinement_->ns.empty();
  if (is_confined && (!is_home_ || request.ns != confinement_->ns)) return false;
  request.user = confinement_ != nullptr && confinement_->user ? confinement_->user : user_;
  const bool is_narrowed = request.user != nullptr && request.user->narrowing != nullptr;
  return is_home_ || !is_narrowed || request.user->narrowing->ns.empty();
}

Task<Result<client::Reply>> ActingClient::call(client::Request request) {
  if (!admits(request)) co_return fail(Reason::Forbidden, refusal(confinement_, *user_));
  co_return co_await inner_.call(std::move(request));
}

Task<Result<std::unique_ptr<client::Watch>>> ActingClient::watch(client::Request request) {
  if (!admits(request)) co_return fail(Reason::Forbidden, refusal(confinement_, *user_));
  co_return co_await inner_.watch(std::move(request));
}

}  // namespace slipway::control

#include "control/acting_client.h"

namespace slipway::control {

// A server of this process takes the user from the request. A client of a cluster elsewhere sends impersonation headers
// (remote/request.h), for which its own credentials need the verb impersonate there.

bool ActingClient::may_reach(const client::Request& request) const {
  if (confinement_ == nullptr || confinement_->why.empty()) return true;
  return is_home_ && request.ns == confinement_->ns;
}

Task<Result<client::Reply>> ActingClient::call(client::Request request) {
  if (!may_reach(request)) co_return fail(Reason::Forbidden, confinement_->why);
  request.user = user_;
  co_return co_await inner_.call(std::move(request));
}

Task<Result<std::unique_ptr<client::Watch>>> ActingClient::watch(client::Request request) {
  if (!may_reach(request)) co_return fail(Reason::Forbidden, confinement_->why);
  request.user = user_;
  co_return co_await inner_.watch(std::move(request));
}

}  // namespace slipway::control

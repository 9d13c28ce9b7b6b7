// A client that asks as another user: every request is authorized as that user's. A server of this process sees the user
// itself, a client of a cluster elsewhere shows it by impersonation headers (remote/request.h), for which its own credentials
// need the verb impersonate there.
#pragma once

#include <memory>

#include "client/client.h"

namespace slipway::fleet {

class IdentityClient : public client::Client {
 public:
  /// `inner` outlives this. REQUIRES: `user` is not null and has a name.
  IdentityClient(client::Client& inner, std::shared_ptr<const kube::UserInfo> user) : inner_(inner), user_(std::move(user)) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    request.user = user_;
    return inner_.call(std::move(request));
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    request.user = user_;
    return inner_.watch(std::move(request));
  }

 private:
  client::Client& inner_;
  std::shared_ptr<const kube::UserInfo> user_;
};

}  // namespace slipway::fleet

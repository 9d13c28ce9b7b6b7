// A Client that asks as a user. A controller reads and writes with it whatever a user's object names, so that the API server
// evaluates that user's rights and not those of the process (docs/security.md, "Who acts as whom").
#pragma once

#include <memory>
#include <string>

#include "client/client.h"
#include "kube/user.h"

namespace slipway::control {

/// Limits what a client reaches; shared by several clients, and set while they are in use.
struct Confinement {
  std::string ns;   // the only namespace that may be reached, of the home cluster; empty: not confined
  std::string why;  // the message of a refusal
  /// As whom requests are sent from then on, with rights narrowed by those who had a say (kube::Narrowing); null: as before.
  std::shared_ptr<const kube::UserInfo> user{};
};

/// Sends each request to `inner` as `user`. A null user is the process itself.
class ActingClient : public client::Client {
 public:
  /// `inner` and `confinement` outlive this. `is_home`: `inner` is the cluster that a confinement speaks of; every other
  /// cluster is out of reach once it is set.
  ActingClient(client::Client& inner, std::shared_ptr<const kube::UserInfo> user, const Confinement* confinement = nullptr,
               bool is_home = true)
      : inner_(inner), user_(std::move(user)), confinement_(confinement), is_home_(is_home) {}

  /// Requests from now on are sent as this user.
  void act_as(std::shared_ptr<const kube::UserInfo> user) { user_ = std::move(user); }
  /// Forbidden, with the reason of the confinement, when the request goes beyond it; also when `inner` is not the home cluster
  /// and the user's rights are narrowed to one namespace. A user whose narrowing names no namespace reaches the other clusters
  /// of this process; a cluster elsewhere is not reached (remote/remote_client.cc).
  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

 private:
  /// Names the user of the request. False when it goes beyond the confinement.
  bool admits(client::Request& request) const;

  client::Client& inner_;
  std::shared_ptr<const kube::UserInfo> user_;
  const Confinement* confinement_;
  bool is_home_;
};

}  // namespace slipway::control

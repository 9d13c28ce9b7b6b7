// The clients of a simulated world: the controllers' one passes each operation through the fault injector, the user's one only
// waits out a server that is down.
#pragma once

#include <memory>

#include "sim/world.h"

namespace slipway::sim {

/// The controllers' way to a server. Each call and each opened watch has its two points.
class FaultClient : public client::Client {
 public:
  FaultClient(World& world, ServerProcess& server) : world_(world), server_(server) {}
  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

 private:
  /// Strikes; suspends for ever when this process is among the dead.
  Task<FaultKind> at(Moment moment, std::string who, std::string what, bool is_write);

  /// The operation as points show it.
  std::string title(const client::Request& request) const;

  World& world_;
  ServerProcess& server_;
};

/// The way of others (the user, the controllers of the second cluster) to a server: ServiceUnavailable and Timeout are tried
/// again after a second.
class PatientClient : public client::Client {
 public:
  PatientClient(Domain& caller, ServerProcess& server) : caller_(caller), server_(server) {}
  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

 private:
  Domain& caller_;
  ServerProcess& server_;
};

}  // namespace slipway::sim

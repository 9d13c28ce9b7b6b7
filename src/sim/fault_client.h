// The clients of a simulated world: the controllers' one passes each operation through the fault injector, the user's one only
// waits out a server that is down.
#pragma once

#include <memory>

#include "sim/world.h"

namespace slipway::sim {

/// The controllers' way to the server. Each call and each opened watch has its two points.
class FaultClient : public client::Client {
 public:
  explicit FaultClient(World& world) : world_(world) {}
  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

 private:
  /// Strikes; suspends for ever when this process is among the dead.
  Task<FaultKind> at(Moment moment, std::string who, std::string what, bool is_write);

  World& world_;
};

/// The user's way to the server: ServiceUnavailable and Timeout are tried again after a second.
class PatientClient : public client::Client {
 public:
  explicit PatientClient(World& world) : world_(world) {}
  Task<Result<client::Reply>> call(client::Request request) override;
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override;

 private:
  World& world_;
};

}  // namespace slipway::sim

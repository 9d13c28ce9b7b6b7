// The turns of calls to servers outside. A tenant has kMaxOfTenant calls under way, and kMaxOfHost of these to one host;
// further ones wait, within their time-out. A host that kept a call of a tenant waiting for kPatience or longer without an
// answer is left alone for that tenant for a while (base/silent_hosts.h): a call whose time-out ends later waits that long,
// others fail with Timeout at once. Calls of the process itself (no tenant) have no limit.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/env.h"
#include "base/silent_hosts.h"
#include "base/status.h"
#include "base/task.h"

namespace slipway::net {

class Outgoing {
  struct Share;

 public:
  static constexpr std::size_t kMaxOfTenant = 32;
  static constexpr std::size_t kMaxOfHost = 8;
  static constexpr Duration kPatience = std::chrono::seconds{5};

  /// A call under way, until it is destroyed. REQUIRES: the Outgoing outlives it.
  class Turn {
   public:
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    /// Records how the call ended: Timeout or ServiceUnavailable after kPatience is silence, either of them earlier is ignored,
    /// anything else (null: success) is an answer. Without this call nothing is recorded.
    void ended(const Status* error);

   private:
    friend class Outgoing;
    Turn(Outgoing& owner, std::string tenant, std::string host);

    Outgoing& owner_;
    std::shared_ptr<Share> share_;  // null: no tenant
    std::string tenant_;
    std::string host_;
    Steady began_;
  };

  explicit Outgoing(Env& env) : env_(env), silent_(env.clock) {}
  /// Timeout: no turn before `deadline`, or the host is left alone until after it. `host`: with its port.
  Task<Result<std::unique_ptr<Turn>>> take(std::string tenant, std::string host, Steady deadline);

 private:
  /// What a tenant has under way.
  struct Share {
    explicit Share(Env& env) : freed(env) {}
    std::size_t calls = 0;
    std::map<std::string, std::size_t> by_host;
    Signal freed;
  };

  Env& env_;
  SilentHosts silent_;                                    // by tenant and host
  std::map<std::string, std::weak_ptr<Share>> shares_{};  // of tenants with a call under way or waiting
};

}  // namespace slipway::net

// How long what a user's object asks outside of its cluster may take at most, whatever that object says (docs/security.md).
#pragma once

#include "base/http_client.h"
#include "base/time.h"

namespace slipway {

struct OutsideTimes {
  Duration connect = std::chrono::seconds{10};  // to an HTTP or git server
  Duration step = std::chrono::seconds{60};     // a call of a workflow's step; forges, indexes of charts, files by URL
  Duration metric = std::chrono::seconds{30};
  Duration webhook = std::chrono::seconds{30};  // of gates and notifiers
  Duration mail = std::chrono::seconds{30};
  Duration git = std::chrono::seconds{60};      // an operation on a remote
  Duration program = std::chrono::minutes{10};  // helm, terraform

  Duration of(CallUse use) const {
    if (use == CallUse::Metric) return metric;
    return use == CallUse::Webhook ? webhook : step;
  }
  /// For a process whose objects are all of the user who started it.
  static OutsideTimes unlimited() {
    constexpr Duration kDay = std::chrono::hours{24};
    return {.step = kDay, .metric = kDay, .webhook = kDay, .mail = kDay, .git = kDay, .program = kDay};
  }
};

}  // namespace slipway

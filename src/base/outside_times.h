// The longest times of the calls and programs that objects of users start outside of their cluster (steps, gates, git, helm).
// They apply even if the object asks for more (docs/security.md).
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
  /// For a process whose objects all belong to the user who started it: 24 h each, except `connect`, which stays 10 s.
  static OutsideTimes unlimited() {
    constexpr Duration kDay = std::chrono::hours{24};
    return {.step = kDay, .metric = kDay, .webhook = kDay, .mail = kDay, .git = kDay, .program = kDay};
  }
};

}  // namespace slipway

// Events (v1) about objects. Names are deterministic from object, reason and `instance`, so that an event that must appear once
// does appear once however often the reconcile runs. An event that may happen again is a series: one object whose count and
// lastTimestamp move. The cluster forgets events an hour after they were last written (kube-apiserver's --event-ttl).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/env.h"
#include "client/client.h"

namespace slipway::control {

/// How long an event is kept after it was last written.
inline constexpr Duration kEventTimeToLive = std::chrono::hours{1};
/// A series is written at most once in this time, however often the event happens.
inline constexpr Duration kSeriesPause = std::chrono::minutes{1};

struct EventText {
  std::string type = "Normal";  // Normal, Warning
  std::string reason;           // "WorkflowStarted"
  std::string message;
  /// Tells apart several events of one reason about one object (e.g. a step's name and attempt); empty for once per object.
  std::string instance;
  /// It may happen again: count and lastTimestamp of the event tell how often and when.
  bool is_series = false;
  /// For receivers that act on the event.
  std::map<std::string, std::string> annotations{};
};

/// Records the event. One of the same object, reason and instance that exists already is left as it is, or counted on when it
/// is a series. Failures are returned (a namespace that is being deleted gives Forbidden, which callers may ignore).
Task<Result<void>> record_event(Env& env, client::Client& client, json::Value object, EventText text, std::string component);

}  // namespace slipway::control

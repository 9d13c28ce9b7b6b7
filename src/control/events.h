// Events (v1) about objects. Names are deterministic from object, reason and `instance`, so that an event that must appear once
// does appear once however often the reconcile runs.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"
#include "client/client.h"

namespace slipway::control {

struct EventText {
  std::string type = "Normal";  // Normal, Warning
  std::string reason;           // "WorkflowStarted"
  std::string message;
  /// Tells apart several events of one reason about one object (e.g. a step's name and attempt); empty for once per object.
  std::string instance;
};

/// Records the event; an event of the same object, reason and instance that exists already is left as it is. Failures other
/// than AlreadyExists are returned (a full namespace deletion gives Forbidden, which callers may ignore).
Task<Result<void>> record_event(Env& env, client::Client& client, json::Value object, EventText text, std::string component);

}  // namespace slipway::control

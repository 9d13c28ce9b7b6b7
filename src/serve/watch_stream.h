// A watch on its way out: one line of JSON per event, each written as soon as it is there. Its failed end is an ERROR event
// with the Status, after which the body ends cleanly, as upstream's. What a reader has not taken is not held here: the watch is
// a cursor into the store's history, and a reader that falls behind that gets Expired.
#pragma once

#include <memory>

#include "base/env.h"
#include "client/client.h"
#include "serve/event_text.h"
#include "serve/negotiate.h"
#include "server/registry.h"

namespace slipway::serve {

struct WatchView {
  server::TypePtr type;
  Form form;
  std::shared_ptr<EventTexts> texts;  // shared by all watches of a cluster
};
std::unique_ptr<http::BodyStream> watch_stream(Env& env, std::unique_ptr<client::Watch> watch, WatchView view);

}  // namespace slipway::serve

// What crosses between two simulated processes: a call and its answer, or the events of a watch. Either side may die at any
// time; the other is told as a socket would tell it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "client/client.h"

namespace slipway::sim {

/// An answer on its way back to the caller's process.
struct Exchange {
  explicit Exchange(Env& caller) : done(caller) {}

  void answer(Result<client::Reply> with) {
    if (result) return;
    result = std::move(with);
    done.notify();
  }

  Signal done;
  std::optional<Result<client::Reply>> result;
};

/// Events on their way to a watcher's process; bounded by what the store keeps, since the pump waits while it is long.
struct Channel {
  explicit Channel(Env& watcher) : arrived(watcher) {}

  void send(Result<std::vector<client::WatchEvent>> batch) {
    batches.push_back(std::move(batch));
    arrived.notify();
  }

  Signal arrived;
  std::deque<Result<std::vector<client::WatchEvent>>> batches;
  bool is_closed = false;  // by the watcher
};

}  // namespace slipway::sim

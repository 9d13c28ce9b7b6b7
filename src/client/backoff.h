// Exponential back-off, for everything that tries again: informers, queues, Jobs, containers.
#pragma once

#include "base/env.h"

namespace slipway::client {

struct Backoff {
  Duration first;
  Duration cap;
  double factor = 2;

  /// first · factor^failures, at most cap. `failures` counts from 0.
  Duration after(int failures) const;
};

}  // namespace slipway::client

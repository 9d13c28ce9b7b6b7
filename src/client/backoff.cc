#include "client/backoff.h"

#include <algorithm>

namespace slipway::client {

Duration Backoff::after(int failures) const {
  double wait = static_cast<double>(first.count());
  for (int i = 0; i < failures && wait < static_cast<double>(cap.count()); ++i) wait *= factor;
  return std::min(Duration{static_cast<std::int64_t>(wait)}, cap);
}

}  // namespace slipway::client

#include "delivery/rollout/history.h"

#include <algorithm>

namespace slipway::delivery::rollout {

void set_attempt(std::vector<AttemptRecord>& attempts, AttemptRecord attempt) {
  const auto at = std::ranges::find(attempts, attempt.attempt, &AttemptRecord::attempt);
  if (at != attempts.end()) {
    *at = std::move(attempt);
    return;
  }
  attempts.push_back(std::move(attempt));
  if (attempts.size() > kMaxAttempts) attempts.erase(attempts.begin());
}

}  // namespace slipway::delivery::rollout

#include "base/turn.h"

#include <algorithm>

namespace slipway {

void Turn::begin() {
  left_ = units_;
  end_ = env_.clock.steady() + kLongest;
}

bool Turn::spend(std::size_t units) {
  left_ -= std::min(left_, units);
  return left_ == 0 || env_.clock.steady() >= end_;
}

Task<> Turn::pass() {
  co_await yield(env_);
  begin();
}

}  // namespace slipway

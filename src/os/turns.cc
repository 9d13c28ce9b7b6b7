#include "os/turns.h"

#include <time.h>

#include <algorithm>

namespace slipway::os {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

TurnMeter::TurnMeter(Histogram& turns) : turns_(turns), last_(std::chrono::steady_clock::now()), cpu_at_base_(cpu_seconds()) {}

void TurnMeter::end() {
  const Instant now = std::chrono::steady_clock::now();
  const double wall = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  since_base_ += wall;
  double spent = wall;
  if (since_base_ >= kShort) {
    const double cpu = cpu_seconds();
    spent = std::min(wall, cpu - cpu_at_base_);
    cpu_at_base_ = cpu;
    since_base_ = 0;
  }
  turns_.observe(spent);
}

}  // namespace slipway::os

#include "base/wall_steps.h"

#include <ranges>

namespace slipway {
namespace {

constexpr std::size_t kMostEpochs = 16;
constexpr Duration kLeastStep = std::chrono::seconds{1};
/// Times in objects have whole seconds, the fraction cut off.
constexpr Duration kCutOff = std::chrono::seconds{1};

Steady moment_of(Time written, const WallEpoch& epoch) { return Steady{written.time_since_epoch() - epoch.offset}; }

bool covers(const WallEpoch& epoch, Time written) {
  const Steady moment = moment_of(written, epoch);
  return moment + kCutOff >= epoch.from && moment <= epoch.until;
}

}  // namespace

Time Now::present(Time written) const {
  if (earlier_.empty() || covers(epoch_, written)) return written;
  for (const WallEpoch& epoch : earlier_ | std::views::reverse) {
    if (covers(epoch, written)) return written + (epoch_.offset - epoch.offset);
  }
  const WallEpoch& oldest = earlier_.front();
  const bool is_older = moment_of(written, oldest) < oldest.from;  // than this process
  return is_older ? written + (epoch_.offset - oldest.offset) : written;
}

WallSteps::WallSteps(Clock& clock) : clock_(clock) {
  const Steady steady = clock.steady();
  current_ = {steady, steady, clock.now().time_since_epoch() - steady.time_since_epoch()};
}

Now WallSteps::now() {
  const Steady steady = clock_.steady();
  const Time time = clock_.now();
  const Duration offset = time.time_since_epoch() - steady.time_since_epoch();
  const Duration change = offset - current_.offset;
  const Steady last = current_.until;
  if (change > kLeastStep || change < -kLeastStep) {
    // The step was somewhere between the last call and this one: both epochs cover that while.
    current_.until = steady;
    if (earlier_.size() == kMostEpochs) earlier_.erase(earlier_.begin());
    earlier_.push_back(current_);
    current_.from = last;
    ++steps_;
  }
  current_.until = steady;
  current_.offset = offset;
  return {time, current_, earlier_, steps_};
}

}  // namespace slipway

// The machine's two clocks, with timers that run on the logic thread. The steady one is CLOCK_BOOTTIME, which counts while the
// machine sleeps: a leader that slept longer than its lease sees that when it wakes. All timers share one Asio timer, so calls
// of one moment keep their order and a timer may outlive the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <utility>

#include "base/env.h"

namespace slipway::os {

class MachineClock : public Clock {
 public:
  explicit MachineClock(boost::asio::io_context& context);
  ~MachineClock() override;

  Time now() const override;
  Steady steady() const override;
  /// A call whose moment passes while the machine sleeps is made after waking: once the rest that was left when it fell asleep
  /// has passed, at the latest.
  std::unique_ptr<Timer> call_at(Steady when, std::move_only_function<void()> call) override;
  /// Destroys all calls unmade and lets go of the io_context; later calls are never made.
  void shut();

 private:
  struct Wheel;
  std::shared_ptr<Wheel> wheel_;
};

}  // namespace slipway::os

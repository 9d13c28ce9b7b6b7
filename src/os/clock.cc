#include "os/clock.h"

#include <time.h>

#include <boost/asio/basic_waitable_timer.hpp>
#include <optional>

namespace slipway::os {
namespace {

/// What Asio's timer asks for the time.
struct BootClock : SteadyClock {
  static time_point now() {
    timespec passed{};
    clock_gettime(CLOCK_BOOTTIME, &passed);
    return time_point{std::chrono::seconds{passed.tv_sec} +
                      std::chrono::floor<Duration>(std::chrono::nanoseconds{passed.tv_nsec})};
  }
};

}  // namespace

struct MachineClock::Wheel {
  using Key = std::pair<Steady, std::uint64_t>;
  using Calls = std::map<Key, std::move_only_function<void()>>;

  explicit Wheel(boost::asio::io_context& context) : alarm(std::in_place, context) {}

  /// Sets the alarm to the earliest call, when that has changed.
  void arm() {
    if (!alarm || calls.empty() || calls.begin()->first.first == armed_for) return;
    armed_for = calls.begin()->first.first;
    alarm->expires_at(*armed_for);  // cancels the wait for the former moment
    alarm->async_wait([this](boost::system::error_code error) {
      if (!error) ring();
    });
  }

  void ring() {
    armed_for.reset();
    // Calls made from here on have to wait for the next round, so that a call which renews itself starves no other.
    const std::uint64_t last = made;
    const Steady now = BootClock::now();
    for (auto next = calls.begin(); next != calls.end() && next->first.first <= now;) {
      if (next->first.second > last) {
        ++next;
        continue;
      }
      const Key key = next->first;
      auto call = std::move(next->second);
      calls.erase(next);
      call();
      next = calls.lower_bound(key);
    }
    arm();
  }

  Calls calls;
  std::uint64_t made = 0;
  std::optional<Steady> armed_for;
  std::optional<boost::asio::basic_waitable_timer<BootClock>> alarm;  // none after shut()
};

namespace {

class CallTimer : public Timer {
 public:
  explicit CallTimer(std::move_only_function<void()> cancel) : cancel_(std::move(cancel)) {}
  ~CallTimer() override { cancel_(); }

 private:
  std::move_only_function<void()> cancel_;
};

}  // namespace

MachineClock::MachineClock(boost::asio::io_context& context) : wheel_(std::make_shared<Wheel>(context)) {}
MachineClock::~MachineClock() { shut(); }

Time MachineClock::now() const { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

Steady MachineClock::steady() const { return BootClock::now(); }

std::unique_ptr<Timer> MachineClock::call_at(Steady when, std::move_only_function<void()> call) {
  const Wheel::Key key{when, ++wheel_->made};
  if (wheel_->alarm) wheel_->calls.emplace(key, std::move(call));
  wheel_->arm();
  return std::make_unique<CallTimer>([wheel = std::weak_ptr<Wheel>(wheel_), key] {
    if (const auto alive = wheel.lock()) alive->calls.extract(key);
  });
}

void MachineClock::shut() {
  wheel_->alarm.reset();
  while (!wheel_->calls.empty()) wheel_->calls.extract(wheel_->calls.begin());
}

}  // namespace slipway::os

#include "os/exit_timer.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

namespace slipway::os {

ExitTimer::~ExitTimer() {
  {
    const std::lock_guard lock(mutex_);
    is_disarmed_ = true;
  }
  has_changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ExitTimer::arm(Duration after, int code, std::string message) {
  if (thread_.joinable()) return;
  // Signals belong to the logic thread; a thread inherits the mask of its maker.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, after, code, message = std::move(message)] {
    std::unique_lock lock(mutex_);
    if (has_changed_.wait_for(lock, after, [this] { return is_disarmed_; })) return;
    static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));
    std::_Exit(code);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace slipway::os

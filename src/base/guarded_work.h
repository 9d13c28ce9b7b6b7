// Work for another thread whose exception is stored, instead of ending that thread and with it the process. The caller that
// waits for the work rethrows it on the logic thread, where the reconcile or request catches it (control/controller_run.cc,
// net/connection.cc), so only the object or request of that user fails.
#pragma once

#include <exception>
#include <functional>
#include <memory>

namespace slipway {

class GuardedWork {
 public:
  explicit GuardedWork(std::move_only_function<void()> work) : work_(std::move(work)) {}

  /// Null as long as the work has thrown nothing. Read it after the work has ended.
  std::shared_ptr<const std::exception_ptr> thrown() const { return thrown_; }
  void operator()() noexcept {
    try {
      work_();
    } catch (...) {
      *thrown_ = std::current_exception();
    }
  }

 private:
  std::move_only_function<void()> work_;
  std::shared_ptr<std::exception_ptr> thrown_ = std::make_shared<std::exception_ptr>();
};

}  // namespace slipway

// Work for another thread whose exception is kept, instead of ending that thread and with it the process. Who waits for the
// work throws the exception again, on the logic thread: there a reconcile or a request is caught (control/controller_run.cc,
// net/connection.cc), so that what one user wrote fails alone.
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

#include "control/failure_log.h"

namespace slipway::control {
namespace {

constexpr Duration kMinute = std::chrono::minutes{1};
constexpr int kOrdinaryConflicts = 2;  // in a row
constexpr int kLasting = 3;

}  // namespace

void FailureLog::record(const kube::ObjectKey& key, const Status& cause) {
  Failing& failing = failing_[key];
  if (++failing.in_a_row == kLasting) ++lasting_;
  if (cause.reason == Reason::Conflict && failing.in_a_row <= kOrdinaryConflicts) return;
  const Steady now = env_.clock.steady();
  if (now < failing.next_line) return;
  failing.next_line = now + kMinute;
  if (!takes_a_line()) {
    ++left_out_;
    return;
  }
  const std::string object = key.to_string();
  const std::string in_a_row = std::to_string(failing.in_a_row);
  if (left_out_ == 0) {
    env_.log.warn("ReconcileError",
                  {{"controller", controller_}, {"object", object}, {"failures", in_a_row}, {"error", cause.message}});
    return;
  }
  const std::string left_out = std::to_string(std::exchange(left_out_, 0));
  env_.log.warn("ReconcileError", {{"controller", controller_},
                                   {"object", object},
                                   {"failures", in_a_row},
                                   {"error", cause.message},
                                   {"lines left out before", left_out}});
}

bool FailureLog::is_lasting(const kube::ObjectKey& key) const {
  const auto found = failing_.find(key);
  return found != failing_.end() && found->second.in_a_row >= kLasting;
}

bool FailureLog::is_due_on_object(const kube::ObjectKey& key) {
  const Steady now = env_.clock.steady();
  if (!is_lasting(key) || now < failing_[key].next_on_object) return false;
  failing_[key].next_on_object = now + kMinute;
  return true;
}

void FailureLog::forget(const kube::ObjectKey& key) {
  if (is_lasting(key)) --lasting_;
  failing_.erase(key);
}

bool FailureLog::takes_a_line() {
  const Steady now = env_.clock.steady();
  if (now >= minute_ends_) {
    minute_ends_ = now + kMinute;
    lines_ = 0;
  }
  return lines_++ < kMaxLinesAMinute;
}

}  // namespace slipway::control

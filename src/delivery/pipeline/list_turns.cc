#include "delivery/pipeline/list_turns.h"

#include <utility>

namespace slipway::delivery::pipeline {

Task<std::unique_ptr<ListTurns::Held>> ListTurns::next() {
  const auto self = shared_from_this();
  if (held_ < kAtOnce) {
    ++held_;
    co_return std::make_unique<Held>(self);
  }
  const auto turn = std::make_shared<Signal>(env_);
  waiting_.push_back(turn);
  co_await turn->wait();
  co_return std::make_unique<Held>(self);
}

ListTurns::Held::Held(std::shared_ptr<ListTurns> of) : of_(std::move(of)) {
  patience_ = of_->env_.clock.call_at(of_->env_.clock.steady() + kPatience, [this] { end(); });
}

/// Whoever waits the longest goes on in its place.
void ListTurns::Held::end() {
  const auto of = std::exchange(of_, nullptr);
  if (of == nullptr) return;
  if (of->waiting_.empty()) {
    --of->held_;
    return;
  }
  const auto first = std::move(of->waiting_.front());
  of->waiting_.pop_front();
  first->notify();
}

}  // namespace slipway::delivery::pipeline

#include "control/queue.h"

namespace slipway::control {

namespace {

constexpr double kJitter = 0.1;

}  // namespace

Queue::Queue(Env& env, client::Backoff backoff) : env_(env), backoff_(backoff), available_(env) {}

void Queue::add(const ObjectKey& key) {
  if (!dirty_.insert(key).second || working_.contains(key)) return;
  ready_.push_back(key);
  available_.notify();
}

void Queue::add_after(const ObjectKey& key, Duration after) {
  if (after <= Duration{0}) return add(key);
  const Steady when = env_.clock.steady() + after;
  const auto found = delayed_.find(key);
  if (found != delayed_.end() && found->second.when <= when) return;
  auto timer = env_.clock.call_at(when, [this, key] {
    const auto due = delayed_.extract(key);
    add(key);
  });
  delayed_.insert_or_assign(key, Delayed{when, std::move(timer)});
}

void Queue::add_backed_off(const ObjectKey& key) {
  add_after(key, jitter(env_.random, backoff_.after(failures_[key]++), kJitter));
}

void Queue::forget(const ObjectKey& key) { failures_.erase(key); }

Task<ObjectKey> Queue::take() {
  while (ready_.empty()) co_await available_.wait();
  ObjectKey key = std::move(ready_.front());
  ready_.pop_front();
  dirty_.erase(key);
  working_.insert(key);
  co_return key;
}

void Queue::done(const ObjectKey& key) {
  working_.erase(key);
  if (!dirty_.contains(key)) return;
  ready_.push_back(key);
  available_.notify();
}

}  // namespace slipway::control

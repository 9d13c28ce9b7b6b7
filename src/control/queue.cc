#include "control/queue.h"

namespace slipway::control {

namespace {

constexpr double kBackoffJitter = 0.1;

}  // namespace

Queue::Queue(Env& env, client::Backoff backoff) : env_(env), backoff_(backoff), changed_(env) {}

void Queue::add(const ObjectKey& key) {
  if (!dirty_.insert(key).second || working_.contains(key)) return;
  ready_.push(key.ns, key);
  changed_.notify();
}

void Queue::add_after(const ObjectKey& key, Duration after) {
  if (after <= Duration{0}) return add(key);
  const Steady when = env_.clock.steady() + after;
  const auto found = delayed_.find(key);
  if (found != delayed_.end()) {
    if (found->second->first <= when) return;
    due_.erase(found->second);
    found->second = due_.emplace(when, &found->first);
  } else {
    const auto at = delayed_.emplace(key, Due::iterator{}).first;
    at->second = due_.emplace(when, &at->first);
  }
  set_timer();
}

void Queue::set_timer() {
  if (due_.empty()) {
    timer_.reset();
    return;
  }
  const Steady first = due_.begin()->first;
  if (timer_ != nullptr && timer_when_ == first) return;
  timer_when_ = first;
  timer_ = env_.clock.call_at(first, [this] { add_due(); });
}

void Queue::add_due() {
  const auto done = std::move(timer_);
  const auto end = due_.upper_bound(env_.clock.steady());
  for (auto one = due_.begin(); one != end; one = due_.erase(one)) {
    const auto due = delayed_.extract(*one->second);
    add(due.key());
  }
  set_timer();
}

void Queue::add_backed_off(const ObjectKey& key) {
  add_after(key, jitter(env_.random, backoff_.after(failures_[key]++), kBackoffJitter));
}

void Queue::forget(const ObjectKey& key) { failures_.erase(key); }

std::optional<ObjectKey> Queue::take_if(const std::function<bool(const std::string& tenant)>& may_run) {
  std::optional<ObjectKey> key = ready_.pop_if(may_run);
  if (!key) return key;
  dirty_.erase(*key);
  working_.insert(*key);
  return key;
}

Task<ObjectKey> Queue::take() {
  for (;;) {
    if (auto key = take_if([](const std::string&) { return true; })) co_return std::move(*key);
    co_await changed_.wait();
  }
}

void Queue::done(const ObjectKey& key) {
  working_.erase(key);
  if (dirty_.contains(key)) ready_.push(key.ns, key);
  changed_.notify();
}

}  // namespace slipway::control

#include "base/task.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>

#include "base/check.h"
#include "base/env.h"
#include "base/guarded_work.h"

namespace slipway {

Parking::Slot Parking::park(Resume resume) {
  slots_.emplace(++next_, std::move(resume));
  return next_;
}

Resume Parking::take(Slot slot) {
  auto node = slots_.extract(slot);
  return node ? std::move(node.mapped()) : Resume{};
}

void Parking::drop_all() {
  while (!slots_.empty()) slots_.extract(slots_.begin());
}

namespace {

/// Completes an awaitable with a bool, later, through the executor.
template <class Start>
Task<bool> suspend_until_resumed(Start start) {
  auto initiate = [&start](auto handler) {
    auto shared = std::make_unique<decltype(handler)>(std::move(handler));
    start(Resume([shared = std::move(shared)](bool value) mutable {
      auto call = std::move(*shared);
      shared.reset();
      call(value);
    }));
  };
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<Executor>, void(bool)>(
      initiate, boost::asio::use_awaitable_t<Executor>{});
}

void post_resume(Env& env, Resume resume, bool value) {
  boost::asio::post(env.executor, [resume = std::move(resume), value]() mutable { resume(value); });
}

}  // namespace

struct Signal::Waiter {
  std::optional<Parking::Slot> slot;
  std::unique_ptr<Timer> timer;

  /// True for the first of notify and time-out.
  bool claim(Env& env, bool value) {
    if (!slot) return false;
    Resume resume = env.parking.take(*slot);
    slot.reset();
    timer.reset();
    if (resume) post_resume(env, std::move(resume), value);
    return true;
  }
};

Signal::~Signal() = default;

void Signal::notify() {
  std::list<std::shared_ptr<Waiter>> woken;
  woken.swap(waiters_);
  for (const auto& waiter : woken) waiter->claim(env_, true);
}

Task<> Signal::wait() { co_await suspend(std::make_shared<Waiter>()); }

Task<bool> Signal::wait_until(Steady deadline) {
  auto waiter = std::make_shared<Waiter>();
  waiter->timer = env_.clock.call_at(deadline, [this, waiter = std::weak_ptr<Waiter>(waiter)] {
    const auto alive = waiter.lock();
    if (!alive || !alive->slot) return;
    std::erase(waiters_, alive);
    auto timer = std::move(alive->timer);
    alive->claim(env_, false);
  });
  co_return co_await suspend(std::move(waiter));
}

Task<bool> Signal::suspend(std::shared_ptr<Waiter> waiter) {
  waiters_.push_back(waiter);
  co_return co_await suspend_until_resumed(
      [this, waiter](Resume resume) { waiter->slot = env_.parking.park(std::move(resume)); });
}

Task<> sleep_until(Env& env, Steady when) {
  if (when <= env.clock.steady()) co_return;
  Signal never(env);
  co_await never.wait_until(when);
}

Task<> sleep_for(Env& env, Duration duration) { return sleep_until(env, env.clock.steady() + duration); }

Task<> yield(Env& env) {
  co_await suspend_until_resumed([&env](Resume resume) { post_resume(env, std::move(resume), true); });
}

Task<> run_on(Env& env, Lane& lane, std::move_only_function<void()> work) {
  struct State {
    std::optional<Parking::Slot> slot;
    bool is_done = false;
  };
  auto state = std::make_shared<State>();
  GuardedWork guarded(std::move(work));
  const std::shared_ptr<const std::exception_ptr> thrown = guarded.thrown();
  lane.submit(std::move(guarded), [&env, state = std::weak_ptr<State>(state)] {
    const auto alive = state.lock();
    if (!alive) return;
    alive->is_done = true;
    if (!alive->slot) return;
    if (Resume resume = env.parking.take(*alive->slot)) post_resume(env, std::move(resume), true);
  });
  if (!state->is_done) {  // else an inline lane
    co_await suspend_until_resumed([&env, state](Resume resume) { state->slot = env.parking.park(std::move(resume)); });
  }
  if (*thrown) std::rethrow_exception(*thrown);
}

void Tasks::spawn(Task<> child) {
  ++running_;
  boost::asio::co_spawn(env_.executor, run(std::move(child)), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

Task<> Tasks::run(Task<> child) {
  co_await std::move(child);
  if (--running_ == 0) idle_.notify();
}

Task<> Tasks::join() {
  while (running_ > 0) co_await idle_.wait();
}

}  // namespace slipway

// Coroutines: boost::asio::awaitable, known all the way down. A task runs on its Env's executor, one at a time. Arguments are
// taken by value. Cancelling is destroying: Parking::drop_all() and the executor's end destroy suspended frames, whose
// destructors clean up; nothing is thrown through them.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>

#include "base/time.h"

namespace slipway {

template <class T = void>
using Task = boost::asio::awaitable<T, boost::asio::any_io_executor>;
using Executor = boost::asio::any_io_executor;

struct Env;

/// What resumes a suspended coroutine; the argument says whether it was notified (true) or timed out (false).
/// Destroying it uncalled destroys the suspended frame.
using Resume = std::move_only_function<void(bool)>;

/// Holds every coroutine that waits for a Signal, so that a whole world can be taken down before the objects its frames
/// refer to. One per Env.
class Parking {
 public:
  using Slot = std::uint64_t;

  Slot park(Resume resume);
  /// Takes the handler out; empty when it was dropped.
  Resume take(Slot slot);
  /// Destroys all suspended frames. Frames that park others while dying are dropped too.
  void drop_all();
  std::size_t size() const { return slots_.size(); }

 private:
  std::map<Slot, Resume> slots_;
  Slot next_ = 0;
};

/// Wakes those who wait. Nothing is remembered: check the condition, then wait, in one go (there is one logic thread).
/// The signal must outlive its waiters, or be destroyed together with them through Parking::drop_all().
class Signal {
 public:
  explicit Signal(Env& env) : env_(env) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal();

  /// Resumes every waiter of this moment, through the executor, in the order of their waiting.
  void notify();
  /// Waits for the next notify().
  Task<> wait();
  /// Waits for the next notify() (true) or until `deadline` on the Env's clock (false).
  Task<bool> wait_until(Steady deadline);

 private:
  struct Waiter;
  Task<bool> suspend(std::shared_ptr<Waiter> waiter);

  Env& env_;
  std::list<std::shared_ptr<Waiter>> waiters_;
};

/// Suspends until `when`; at once if that has passed.
Task<> sleep_until(Env& env, Steady when);
Task<> sleep_for(Env& env, Duration duration);
/// Suspends once, so that other ready tasks run first.
Task<> yield(Env& env);

/// Owns concurrently running children. They are joined, or dropped with their world.
class Tasks {
 public:
  explicit Tasks(Env& env) : env_(env), idle_(env) {}

  /// Starts a child. It first runs from the executor, never inside this call.
  void spawn(Task<> child);
  /// Waits until no child runs.
  Task<> join();
  std::size_t running() const { return running_; }

 private:
  Task<> run(Task<> child);

  Env& env_;
  Signal idle_;
  std::size_t running_ = 0;
};

}  // namespace slipway

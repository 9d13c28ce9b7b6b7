// An Env without a machine: one thread, a run queue, virtual time that moves only when told (or when nothing else is left to
// do), seeded randomness, files in memory. Everything runs inside run(), run_until_idle() or advance(), so a test or a
// simulation sees the same order every time. The parts are separate classes; a simulator composes its own Env of them.
//
// Take a ManualEnv down before the objects its coroutines refer to: declare it before them and call drop_all() at the end of
// the test (a fixture's TearDown), or let it be destroyed first.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/env.h"
#include "base/memory_files.h"

namespace slipway {

/// Functions that are ready to run. Which one is next is up to `pick`.
class RunQueue {
 public:
  using Call = std::move_only_function<void()>;
  /// Given how many are ready (at least 1), the index of the next; 0 is the oldest. The rest keep their order.
  using Pick = std::function<std::size_t(std::size_t ready)>;

  RunQueue() = default;
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  /// Runs what is posted to it from run_one() only. The queue must outlive the executor's copies.
  Executor executor();
  void post(Call call) { ready_.push_back(std::move(call)); }
  /// First in, first out when empty (the default).
  void set_pick(Pick pick) { pick_ = std::move(pick); }
  /// False when nothing was ready.
  bool run_one();
  /// Destroys what is ready without running it; what that posts is destroyed too (coroutine frames die this way).
  void drop();
  std::size_t size() const { return ready_.size(); }
  /// Functions run so far.
  std::uint64_t steps() const { return steps_; }

 private:
  friend class RunQueueExecutor;

  std::deque<Call> ready_;
  Pick pick_;
  std::uint64_t steps_ = 0;
  boost::asio::execution_context context_;
};

/// Asio's executor concept over a RunQueue: never runs anything inside execute().
class RunQueueExecutor {
 public:
  explicit RunQueueExecutor(RunQueue& queue) : queue_(&queue) {}

  boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept { return queue_->context_; }
  static constexpr boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  RunQueueExecutor require(boost::asio::execution::blocking_t::never_t) const noexcept { return *this; }
  template <class Function>
  void execute(Function&& function) const {
    queue_->post(RunQueue::Call(std::forward<Function>(function)));
  }
  bool operator==(const RunQueueExecutor&) const noexcept = default;

 private:
  RunQueue* queue_;
};

/// Virtual time. The wall clock runs along with the steady one until step_wall() sets it. Due timers run from the queue; those
/// of one moment in the order of their making, whatever the queue's pick.
class VirtualClock : public Clock {
 public:
  /// 2026-01-01T00:00:00Z.
  static constexpr Time kStart{std::chrono::microseconds{1'767'225'600'000'000}};
  static constexpr Steady kSteadyStart{std::chrono::hours{1}};

  explicit VirtualClock(RunQueue& queue, Time start = kStart);
  Time now() const override { return wall_start_ + (state_->now - kSteadyStart); }
  Steady steady() const override { return state_->now; }
  std::unique_ptr<Timer> call_at(Steady when, std::move_only_function<void()> call) override;
  /// When the earliest timer is due; nullopt without timers.
  std::optional<Steady> next() const;
  /// Moves time and posts the timers that are due. REQUIRES: when >= steady().
  void move_to(Steady when);
  /// Sets the wall clock, forwards or backwards. No timer becomes due by it.
  void step_wall(Duration by) { wall_start_ += by; }
  /// Destroys all timers.
  void drop();
  std::size_t timers() const { return state_->calls.size(); }

 private:
  using Key = std::pair<Steady, std::uint64_t>;
  struct State {
    Steady now = kSteadyStart;
    std::map<Key, std::move_only_function<void()>> calls;
  };
  class VirtualTimer;
  void post_fire();

  RunQueue& queue_;
  Time wall_start_;  // the wall clock at kSteadyStart
  std::shared_ptr<State> state_;
  std::uint64_t next_ = 0;
};

/// SplitMix64.
class SeededRandom : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

/// Runs the work at once and posts `done`.
class InlineLane : public Lane {
 public:
  explicit InlineLane(RunQueue& queue) : queue_(queue) {}
  void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) override {
    work();
    queue_.post(std::move(done));
  }

 private:
  RunQueue& queue_;
};

/// Starts nothing: NotImplemented.
class NoProcesses : public Processes {
 public:
  Result<ProcessId> start(ProcessSpec spec) override;
  bool is_alive(ProcessId) override { return false; }
  Result<void> signal(ProcessId, int) override { return {}; }
  Task<> wait_end(ProcessId) override { co_return; }
};

class ManualEnv {
 public:
  struct Options {
    std::uint64_t seed = 1;
    Time start = VirtualClock::kStart;
    sqlite3_vfs* vfs = nullptr;
    Lane* commits = nullptr;         // nullptr: an InlineLane
    Files* files = nullptr;          // nullptr: files(), in memory
    Processes* processes = nullptr;  // nullptr: NoProcesses
    Log* log = nullptr;              // nullptr: NullLog
    Metrics* metrics = nullptr;      // nullptr: NullMetrics
  };

  ManualEnv() : ManualEnv(Options{}) {}
  explicit ManualEnv(Options options);
  ManualEnv(const ManualEnv&) = delete;
  ManualEnv& operator=(const ManualEnv&) = delete;
  ~ManualEnv() { drop_all(); }

  Env& env() { return env_; }
  operator Env&() { return env_; }
  RunQueue& queue() { return queue_; }
  VirtualClock& clock() { return clock_; }
  SeededRandom& random() { return random_; }
  MemoryFiles& files() { return files_; }
  Time now() const { return clock_.now(); }
  Steady steady() const { return clock_.steady(); }

  /// Runs a task to its end. When nothing is ready, time moves to the next timer; aborts when there is none either (the task
  /// would wait for ever).
  template <class T>
  T run(Task<T> task);
  /// Starts a task beside; it first runs from the queue. An exception out of it aborts.
  void spawn(Task<> task);
  /// Runs what is ready, without moving time.
  void run_until_idle();
  /// Runs, moving time when idle, until `holds` (checked between steps). False when nothing is left to do or the time `limit`
  /// from now has passed.
  bool run_until(const std::function<bool()>& holds, Duration limit = std::chrono::hours{24 * 365});
  /// Runs everything that falls due within `duration` and leaves the clock there.
  void advance(Duration duration);
  /// Destroys everything that waits: parked coroutines, timers, then the queue, until nothing is left.
  void drop_all();

 private:
  /// One step, or the move to the next timer not after `limit`. False when there is neither.
  bool step(Steady limit);

  RunQueue queue_;
  VirtualClock clock_;
  SeededRandom random_;
  InlineLane commits_;
  InlineLane compute_;
  MemoryFiles files_;
  NoProcesses no_processes_;
  NullLog no_log_;
  NullMetrics no_metrics_;
  Env env_;
};

template <class T>
T ManualEnv::run(Task<T> task) {
  bool is_done = false;
  const auto finish = [this, &is_done] {
    while (!is_done) SLIPWAY_CHECK(step(Steady::max()), "the task waits, and nothing is left that could wake it");
  };
  if constexpr (std::is_void_v<T>) {
    boost::asio::co_spawn(env_.executor, std::move(task), [&](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
      is_done = true;
    });
    finish();
  } else {
    std::optional<T> result;
    auto store = [](Task<T> inner, std::optional<T>& into) -> Task<> { into.emplace(co_await std::move(inner)); };
    boost::asio::co_spawn(env_.executor, store(std::move(task), result), [&](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
      is_done = true;
    });
    finish();
    return std::move(*result);
  }
}

}  // namespace slipway

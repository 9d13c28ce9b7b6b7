#include "base/manual_env.h"

#include <utility>

namespace slipway {

Executor RunQueue::executor() { return RunQueueExecutor(*this); }

bool RunQueue::run_one() {
  if (ready_.empty()) return false;
  const std::size_t index = pick_ ? pick_(ready_.size()) : 0;
  SLIPWAY_CHECK(index < ready_.size());
  Call call = std::move(ready_[index]);
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(index));
  ++steps_;
  call();
  return true;
}

void RunQueue::drop() {
  while (!ready_.empty()) {
    Call call = std::move(ready_.front());
    ready_.pop_front();
  }
}

class VirtualClock::VirtualTimer : public Timer {
 public:
  VirtualTimer(std::shared_ptr<State> state, Key key) : state_(std::move(state)), key_(key) {}
  ~VirtualTimer() override {
    // Taken out first: destroying the call may end other timers.
    const auto node = state_->calls.extract(key_);
  }

 private:
  std::shared_ptr<State> state_;
  Key key_;
};

VirtualClock::VirtualClock(RunQueue& queue, Time start)
    : queue_(queue), wall_start_(start), state_(std::make_shared<State>()) {}

std::unique_ptr<Timer> VirtualClock::call_at(Steady when, std::move_only_function<void()> call) {
  const Key key{when, ++next_};
  state_->calls.emplace(key, std::move(call));
  if (when <= state_->now) post_fire();
  return std::make_unique<VirtualTimer>(state_, key);
}

std::optional<Steady> VirtualClock::next() const {
  if (state_->calls.empty()) return std::nullopt;
  return state_->calls.begin()->first.first;
}

void VirtualClock::move_to(Steady when) {
  SLIPWAY_CHECK(when >= state_->now);
  const Steady before = std::exchange(state_->now, when);
  for (auto at = state_->calls.upper_bound(Key{before, UINT64_MAX}); at != state_->calls.end() && at->first.first <= when; ++at)
    post_fire();
}

/// One function per due timer, each firing whichever is first by then: a picking queue cannot turn their order round.
void VirtualClock::post_fire() {
  queue_.post([state = state_] {
    if (state->calls.empty() || state->calls.begin()->first.first > state->now) return;  // cancelled meanwhile
    auto node = state->calls.extract(state->calls.begin());
    node.mapped()();
  });
}

void VirtualClock::drop() {
  while (!state_->calls.empty()) {
    const auto node = state_->calls.extract(state_->calls.begin());
  }
}

std::uint64_t SeededRandom::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Result<ProcessId> NoProcesses::start(ProcessSpec spec) {
  return fail(Reason::NotImplemented, "no processes here: " + (spec.argv.empty() ? std::string() : spec.argv.front()));
}

ManualEnv::ManualEnv(Options options)
    : clock_(queue_, options.start),
      random_(options.seed),
      commits_(queue_),
      compute_(queue_),
      env_{queue_.executor(),
           clock_,
           random_,
           options.commits != nullptr ? *options.commits : commits_,
           compute_,
           options.files != nullptr ? *options.files : files_,
           options.processes != nullptr ? *options.processes : no_processes_,
           options.vfs,
           options.log != nullptr ? *options.log : no_log_,
           options.metrics != nullptr ? *options.metrics : no_metrics_} {}

void ManualEnv::spawn(Task<> task) {
  boost::asio::co_spawn(env_.executor, std::move(task), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

bool ManualEnv::step(Steady limit) {
  if (queue_.run_one()) return true;
  const auto next = clock_.next();
  if (!next || *next > limit) return false;
  clock_.move_to(std::max(*next, clock_.steady()));
  return true;
}

void ManualEnv::run_until_idle() {
  while (queue_.run_one()) {
  }
}

bool ManualEnv::run_until(const std::function<bool()>& holds, Duration limit) {
  const Steady end = clock_.steady() + limit;
  while (!holds()) {
    if (!step(end)) return false;
  }
  return true;
}

void ManualEnv::advance(Duration duration) {
  const Steady end = clock_.steady() + duration;
  while (step(end)) {
  }
  clock_.move_to(end);
}

void ManualEnv::drop_all() {
  while (env_.parking.size() > 0 || clock_.timers() > 0 || queue_.size() > 0) {
    env_.parking.drop_all();
    clock_.drop();
    queue_.drop();
  }
}

}  // namespace slipway

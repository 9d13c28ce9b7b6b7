#include "os/real_env.h"

#include <sys/random.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <list>
#include <random>

#include "base/check.h"
#include "os/clock.h"
#include "os/compute_pool.h"
#include "os/files.h"
#include "os/lane.h"
#include "os/processes.h"
#include "os/programs.h"
#include "os/telemetry.h"
#include "os/turns.h"

namespace slipway::os {
namespace {

/// Fast, and different in each process; not for secrets.
class MachineRandom : public Random {
 public:
  MachineRandom() {
    std::array<std::uint32_t, 8> seed{};
    auto* bytes = reinterpret_cast<unsigned char*>(seed.data());
    for (std::size_t filled = 0; filled < sizeof seed;) {
      const ssize_t got = getrandom(bytes + filled, sizeof seed - filled, 0);
      SLIPWAY_CHECK(got > 0 || errno == EINTR, "the system gives no entropy");
      if (got > 0) filled += static_cast<std::size_t>(got);
    }
    std::seed_seq sequence(seed.begin(), seed.end());
    generator_.seed(sequence);
  }
  std::uint64_t next() override { return generator_(); }

 private:
  std::mt19937_64 generator_;
};

/// An io_context whose handlers can be destroyed while objects that refer to it still live.
class Loop : public boost::asio::io_context {
 public:
  Loop() : io_context(1) {}
  void drop_handlers() { shutdown(); }
};

struct SignalWatch {
  SignalWatch(boost::asio::io_context& context, std::move_only_function<void(int)> handler)
      : signals(context), call(std::move(handler)) {}

  void wait() {
    signals.async_wait([this](boost::system::error_code error, int number) {
      if (error) return;
      wait();
      call(number);
    });
  }

  boost::asio::signal_set signals;
  std::move_only_function<void(int)> call;
};

}  // namespace

/// What a cluster has of its own.
struct ClusterEnv {
  ClusterEnv(Executor executor, const Env& shared)
      : commits(std::move(executor), "slipway-commits"),
        env{.executor = shared.executor,
            .clock = shared.clock,
            .random = shared.random,
            .commits = commits,
            .compute = shared.compute,
            .files = shared.files,
            .processes = shared.processes,
            .vfs = shared.vfs,
            .log = shared.log,
            .metrics = shared.metrics,
            .git = shared.git,
            .programs = shared.programs} {}

  ThreadLane commits;
  Env env;
};

struct RealEnv::Parts {
  explicit Parts(const RealEnvOptions& options)
      : clock(loop),
        commits(loop.get_executor(), "slipway-commits"),
        compute(loop.get_executor()),
        processes(loop, env),
        programs(env, loop.get_executor(), options.max_program_time),
        log(options.log_level, options.log_format),
        env{.executor = loop.get_executor(),
            .clock = clock,
            .random = random,
            .commits = commits,
            .compute = compute,
            .files = files,
            .processes = processes,
            .vfs = nullptr,
            .log = log,
            .metrics = metrics,
            .programs = &programs} {}

  Loop loop;
  MachineClock clock;
  MachineRandom random;
  ThreadLane commits;
  ThreadPool compute;
  MachineFiles files;
  MachineProcesses processes;
  MachinePrograms programs;
  StderrLog log;
  MetricsRegistry metrics;
  std::list<SignalWatch> signals;
  bool is_shut = false;
  Env env;
  std::list<ClusterEnv> clusters;
  std::list<ThreadLane> lanes;

  void drop_frames() {
    env.parking.drop_all();
    for (ClusterEnv& cluster : clusters) cluster.env.parking.drop_all();
  }
};

RealEnv::RealEnv(RealEnvOptions options) : parts_(std::make_unique<Parts>(options)) {}
RealEnv::~RealEnv() { shut(); }

Env& RealEnv::env() { return parts_->env; }

Env& RealEnv::open_env() {
  SLIPWAY_CHECK(!parts_->is_shut, "open_env() after shut()");
  return parts_->clusters.emplace_back(parts_->loop.get_executor(), parts_->env).env;
}

Lane& RealEnv::open_lane(std::string name, ThreadLane::Share share) {
  SLIPWAY_CHECK(!parts_->is_shut, "open_lane() after shut()");
  return parts_->lanes.emplace_back(parts_->loop.get_executor(), std::move(name), share);
}

void RealEnv::run() {
  SLIPWAY_CHECK(!parts_->is_shut, "run() after shut()");
  {
    const auto guard = boost::asio::make_work_guard(parts_->loop);
    TurnMeter turns(parts_->metrics.histogram("slipway_logic_turn_seconds"));
    while (parts_->loop.run_one() > 0) turns.end();
  }
  parts_->loop.restart();  // after the end of the guard, which may stop the loop, and not before run(): an early stop() counts
}

void RealEnv::stop() { parts_->loop.stop(); }

void RealEnv::on_signal(std::initializer_list<int> signals, std::move_only_function<void(int)> call) {
  auto& watch = parts_->signals.emplace_back(parts_->loop, std::move(call));
  for (const int number : signals) watch.signals.add(number);
  watch.wait();
}

std::unique_ptr<http::BodyStream> RealEnv::metrics_stream() const { return os::metrics_stream(parts_->metrics); }

void RealEnv::shut() {
  auto& parts = *parts_;
  if (parts.is_shut) return;
  parts.is_shut = true;
  parts.commits.stop();
  for (ClusterEnv& cluster : parts.clusters) cluster.commits.stop();
  for (ThreadLane& lane : parts.lanes) lane.stop();
  parts.compute.stop();
  parts.programs.stop();
  parts.drop_frames();
  parts.clock.shut();
  parts.processes.shut();
  parts.signals.clear();
  parts.loop.drop_handlers();
  parts.drop_frames();  // what frames parked while they were destroyed
}

}  // namespace slipway::os

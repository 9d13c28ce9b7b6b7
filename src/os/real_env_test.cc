#include "os/real_env.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <future>
#include <thread>

#include "os/proc.h"
#include "os/telemetry.h"
#include "os/test_folder.h"

namespace slipway::os {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPath = "PATH=/usr/local/bin:/usr/bin:/bin";

/// Runs `task` to its end on the loop.
void run(RealEnv& real, Task<> task) {
  bool has_ended = false;
  boost::asio::co_spawn(real.env().executor, std::move(task), [&](std::exception_ptr error) {
    EXPECT_FALSE(error);
    has_ended = true;
    real.stop();
  });
  real.run();
  EXPECT_TRUE(has_ended);
}

TEST(RealEnv, a_lane_in_the_background_leaves_the_machine_to_the_other_threads) {
  RealEnv real({.log_level = LogLevel::Error});
  const auto niceness = [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); };
  const int own = niceness();
  Lane& full = real.open_lane("full");
  Lane& background = real.open_lane("background", ThreadLane::Share::Background);
  int of_full = -1;
  int of_background = -1;
  run(real, [](Env& env, Lane& full, Lane& background, auto niceness, int& of_full, int& of_background) -> Task<> {
    co_await run_on(env, full, [&] { of_full = niceness(); });
    co_await run_on(env, background, [&] { of_background = niceness(); });
  }(real.env(), full, background, niceness, of_full, of_background));
  EXPECT_EQ(of_full, own);
  EXPECT_EQ(of_background, std::max(own, 9));
}

TEST(RealEnv, timers_run_in_order_of_time_and_then_of_making) {
  RealEnv real;
  Clock& clock = real.env().clock;
  std::string order;
  const Steady soon = clock.steady() + 2ms;
  const auto last = clock.call_at(soon + 1ms, [&] {
    order += "d";
    real.stop();
  });
  auto dropped = clock.call_at(soon, [&] { order += "x"; });
  const auto a = clock.call_at(soon, [&] { order += "a"; });
  const auto b = clock.call_at(soon, [&] { order += "b"; });
  const auto past = clock.call_at(soon - 1h, [&] { order += "p"; });
  dropped.reset();
  real.run();
  EXPECT_EQ(order, "pabd");
  EXPECT_GE(clock.steady(), soon + 1ms);
}

TEST(RealEnv, a_call_that_renews_itself_starves_nobody) {
  RealEnv real;
  Clock& clock = real.env().clock;
  std::unique_ptr<Timer> timer;
  int rounds = 0;
  std::function<void()> again = [&] {
    ++rounds;
    timer = clock.call_at(clock.steady(), again);
  };
  again();
  boost::asio::post(real.env().executor, [&] { real.stop(); });
  real.run();
  EXPECT_LT(rounds, 1000);
}

TEST(RealEnv, a_stop_before_the_run_counts_and_the_loop_can_run_again) {
  RealEnv real;
  real.stop();
  real.run();
  int calls = 0;
  boost::asio::post(real.env().executor, [&] {
    ++calls;
    real.stop();
  });
  real.run();
  EXPECT_EQ(calls, 1);
}

TEST(RealEnv, a_lane_works_elsewhere_in_order_and_answers_on_the_loop) {
  RealEnv real;
  const pid_t loop_thread = gettid();
  std::vector<int> worked;
  pid_t worked_on = 0;
  std::vector<int> done;
  for (int i = 0; i < 100; ++i) {
    real.env().commits.submit(
        [&, i] {
          worked.push_back(i);
          worked_on = gettid();
        },
        [&, i] {
          EXPECT_EQ(gettid(), loop_thread);
          done.push_back(i);
          if (i == 99) real.stop();
        });
  }
  real.run();
  EXPECT_EQ(worked, done);
  EXPECT_EQ(done.size(), 100U);
  EXPECT_NE(worked_on, loop_thread);
}

TEST(RealEnv, the_commits_of_a_cluster_do_not_wait_for_those_of_another) {
  RealEnv real;
  Env& slow = real.open_env();
  Env& quick = real.open_env();
  std::promise<void> gate;
  std::vector<std::string> done;
  slow.commits.submit([open = gate.get_future()]() mutable { open.wait(); },
                      [&] {
                        done.emplace_back("slow");
                        real.stop();
                      });
  quick.commits.submit([] {},
                       [&] {
                         done.emplace_back("quick");
                         gate.set_value();
                       });
  real.run();
  EXPECT_EQ(done, (std::vector<std::string>{"quick", "slow"}));
}

TEST(RealEnv, what_waits_in_the_env_of_a_cluster_ends_with_all) {
  RealEnv real;
  const auto held = std::make_shared<int>(0);
  const auto hold = [](Env& env, std::shared_ptr<int>) -> Task<> {
    Signal never(env);
    co_await never.wait();
  };
  boost::asio::co_spawn(real.env().executor, hold(real.open_env(), held), [](std::exception_ptr) {});
  boost::asio::post(real.env().executor, [&] { real.stop(); });
  real.run();
  EXPECT_EQ(held.use_count(), 2);
  real.shut();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(RealEnv, random_numbers_differ_between_environments) {
  RealEnv one;
  RealEnv two;
  EXPECT_NE(one.env().random.next(), two.env().random.next());
}

TEST(RealEnv, hands_over_signals_each_time_one_comes) {
  RealEnv real;
  std::vector<int> seen;
  real.on_signal({SIGUSR1, SIGUSR2}, [&](int number) {
    seen.push_back(number);
    if (seen.size() == 1) kill(getpid(), SIGUSR2);
    if (seen.size() == 2) real.stop();
  });
  kill(getpid(), SIGUSR1);
  real.run();
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

struct Mark {
  int& ends;
  ~Mark() { ++ends; }
};

Task<> hang(Env& env, int& ends, Signal& never) {
  const Mark mark{ends};
  co_await never.wait();
  co_await sleep_for(env, 1h);
}

Task<> hang_in_time(Env& env, int& ends) {
  const Mark mark{ends};
  co_await sleep_for(env, 1h);
}

Task<> hang_on_lane(Env& env, int& ends) {
  const Mark mark{ends};
  // All threads are kept busy until the shutdown, so this never begins.
  co_await run_on(env, env.compute, [] {});
}

Task<> hang_on_process(Env& env, int& ends, ProcessId process) {
  const Mark mark{ends};
  co_await env.processes.wait_end(process);
}

Task<> stop_when_ready(Env& env, RealEnv& real) {
  co_await yield(env);
  co_await yield(env);
  real.stop();
}

TEST(RealEnv, shutting_down_ends_every_suspended_task_before_what_it_refers_to) {
  RealEnv real;
  Env& env = real.env();
  int ends = 0;
  Signal never(env);
  const auto process = env.processes.start({.argv = {"sleep", "1000"}, .env = {kPath}, .folder = "/", .output = ""});
  ASSERT_TRUE(process);
  Tasks tasks(env);
  std::promise<void> gate;
  const std::shared_future<void> open = gate.get_future().share();
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u); ++i)
    env.compute.submit([open] { open.wait(); }, [] {});
  tasks.spawn(hang(env, ends, never));
  tasks.spawn(hang_in_time(env, ends));
  tasks.spawn(hang_on_lane(env, ends));
  tasks.spawn(hang_on_process(env, ends, *process));
  tasks.spawn(stop_when_ready(env, real));
  const auto timer = env.clock.call_at(env.clock.steady() + 1h, [] {});
  real.run();
  EXPECT_EQ(ends, 0);
  gate.set_value();
  real.shut();
  EXPECT_EQ(ends, 4);
  kill(static_cast<pid_t>(process->pid), SIGKILL);
  waitpid(static_cast<pid_t>(process->pid), nullptr, 0);
}

Task<> start_and_wait(Env& env, std::string output, ProcessId& process) {
  const auto started =
      env.processes.start({.argv = {"sh", "-c", "echo $X; pwd; ps -o sid= -p $$ | tr -d ' '; ls /proc/self/fd | wc -l"},
                           .env = {kPath, "X=hello"},
                           .folder = "/usr",
                           .output = output});
  EXPECT_TRUE(started);
  if (!started) co_return;
  process = *started;
  co_await env.processes.wait_end(process);
  co_await env.processes.wait_end(process);  // of what has ended: at once
}

TEST(Processes, starts_in_a_session_of_its_own_and_waits_for_the_end_without_a_zombie) {
  TestFolder folder;
  RealEnv real;
  ProcessId process;
  run(real, start_and_wait(real.env(), folder / "log", process));
  EXPECT_EQ(folder.text("log"), "hello\n/usr\n" + std::to_string(process.pid) + "\n4\n");
  EXPECT_FALSE(real.env().processes.is_alive(process));
  EXPECT_FALSE(read_proc_stat(static_cast<pid_t>(process.pid)));
}

TEST(Processes, a_missing_program_or_folder_is_not_found) {
  RealEnv real;
  const auto missing = real.env().processes.start({.argv = {"frobnicate"}, .env = {kPath}, .folder = "/", .output = ""});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::NotFound);
  EXPECT_EQ(missing.error().message, "exec: \"frobnicate\": executable file not found in $PATH");
  const auto lost = real.env().processes.start({.argv = {"true"}, .env = {kPath}, .folder = "/no/such", .output = ""});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().reason, Reason::NotFound);
}

Task<> signal_and_wait(Env& env, ProcessId process) {
  EXPECT_TRUE(env.processes.signal(process, SIGKILL));
  co_await env.processes.wait_end(process);
  EXPECT_TRUE(env.processes.signal(process, SIGKILL));
}

TEST(Processes, watches_and_signals_a_process_that_is_no_child) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      while (true) pause();
    }
    const ssize_t written = write(ends[1], &grandchild, sizeof grandchild);
    _exit(written == sizeof grandchild ? 0 : 1);
  }
  waitpid(parent, nullptr, 0);
  pid_t pid = 0;
  ASSERT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  close(ends[0]);
  close(ends[1]);
  RealEnv real;
  const ProcessId process = identify(pid);
  EXPECT_TRUE(real.env().processes.is_alive(process));
  run(real, signal_and_wait(real.env(), process));
  EXPECT_FALSE(real.env().processes.is_alive(process));
}

Task<> wait_for(Env& env, ProcessId process) { co_await env.processes.wait_end(process); }

TEST(Processes, another_process_with_the_same_number_is_left_alone) {
  RealEnv real;
  ProcessId other = identify(getpid());
  other.start_ticks += 1;
  EXPECT_FALSE(real.env().processes.is_alive(other));
  EXPECT_TRUE(real.env().processes.signal(other, SIGKILL));
  run(real, wait_for(real.env(), other));
}

TEST(Telemetry, a_log_line_quotes_what_needs_it) {
  EXPECT_EQ(format_members("pod started", {{"pod", "a-1"}, {"why", "it \"is\"\nso"}, {"none", ""}}),
            R"("message":"pod started","pod":"a-1","why":"it \"is\"\nso","none":"")");
  EXPECT_EQ(format_line("pod started", {{"pod", "a-1"}, {"why", "it \"is\"\nso"}, {"none", ""}}),
            R"(pod started pod=a-1 why="it \"is\"\nso" none="")");
}

TEST(Telemetry, shows_metrics_as_prometheus_text) {
  MetricsRegistry metrics;
  metrics.count("requests_total", {{"verb", "get"}}, 1);
  metrics.count("requests_total", {{"verb", "create"}}, 2);
  metrics.count("requests_total", {{"verb", "get"}}, 1);
  metrics.gauge("depth", {}, 3.5);
  metrics.observe("wait_seconds", {}, 0.001);
  metrics.observe("wait_seconds", {}, 100);
  const std::string text = metrics.text();
  EXPECT_TRUE(
      text.starts_with("# TYPE depth gauge\ndepth 3.5\n# TYPE requests_total counter\n"
                       "requests_total{verb=\"create\"} 2\nrequests_total{verb=\"get\"} 2\n"
                       "# TYPE wait_seconds histogram\nwait_seconds_bucket{le=\"0.0005\"} 0\n"
                       "wait_seconds_bucket{le=\"0.001\"} 1\n"))
      << text;
  EXPECT_TRUE(
      text.ends_with("wait_seconds_bucket{le=\"60\"} 1\nwait_seconds_bucket{le=\"+Inf\"} 2\n"
                     "wait_seconds_sum 100.001\nwait_seconds_count 2\n"))
      << text;
}

TEST(Telemetry, escapes_values_of_labels_in_one_place) {
  MetricsRegistry metrics;
  metrics.count("requests_total", {{"path", "a\"} 1\nfake_series 9\\"}, {"code", "200"}}, 1);
  EXPECT_EQ(metrics.text(),
            "# TYPE requests_total counter\n"
            "requests_total{path=\"a\\\"} 1\\nfake_series 9\\\\\",code=\"200\"} 1\n");
}

TEST(Telemetry, series_beyond_the_limit_are_counted_together) {
  MetricsRegistry metrics;
  const auto add = [&](std::size_t number) {
    metrics.count("requests_total", {{"who", std::to_string(number)}}, 1);
    metrics.observe("wait_seconds", {{"who", std::to_string(number)}}, 1);
  };
  for (std::size_t i = 0; i < MetricsRegistry::kMostSeries + 10; ++i) add(i);
  add(0);
  const std::string text = metrics.text();
  EXPECT_TRUE(text.contains("requests_total{overflow=\"true\"} 10\n"));
  EXPECT_TRUE(text.contains("requests_total{who=\"0\"} 2\n"));
  EXPECT_TRUE(text.contains("wait_seconds_count{overflow=\"true\"} 10\n"));
  EXPECT_FALSE(text.contains("who=\"4096\""));
}

TEST(Telemetry, pieces_joined_are_the_whole_text) {
  MetricsRegistry metrics;
  for (int i = 0; i < 300; ++i) metrics.count("requests_total", {{"who", std::to_string(i)}}, i);
  for (int i = 0; i < 30; ++i) metrics.observe("wait_seconds", {{"who", std::to_string(i)}}, i);
  metrics.gauge("depth", {}, 1);
  for (const std::size_t bytes : {1U, 500U, 100'000'000U}) {
    MetricsRegistry::Cursor cursor;
    std::string joined;
    for (std::string more = metrics.piece(cursor, bytes); !more.empty(); more = metrics.piece(cursor, bytes)) {
      EXPECT_LT(more.size(), bytes + 2000);
      joined += more;
    }
    EXPECT_EQ(joined, metrics.text()) << bytes;
  }
}

}  // namespace
}  // namespace slipway::os

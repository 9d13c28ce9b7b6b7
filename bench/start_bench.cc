// start_ms: from exec to ready, empty and with 10,000 objects; idle_rss_mb: what a ready process holds.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "plane_bench.h"

namespace slipway::bench {
namespace {

struct Started {
  double ms = 0;
  double cpu_ms = 0;
  double rss_mb = 0;
};

/// Starts `slipway ready --data-dir FOLDER`, which says "ready" once its API server answers, "idle" once the
/// controllers have their caches, and waits for the end of its input.
Started start_once(const Settings& settings, const std::string& folder) {
  int to_child[2];
  int from_child[2];
  SLIPWAY_CHECK(pipe(to_child) == 0 && pipe(from_child) == 0);
  const Instant start = tick();
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(to_child[0], 0);
    dup2(from_child[1], 1);
    close(to_child[1]);
    close(from_child[0]);
    execl(settings.slipway.c_str(), "slipway", "ready", "--data-dir", folder.c_str(), nullptr);
    _exit(127);
  }
  close(to_child[0]);
  close(from_child[1]);
  std::string said;
  const auto hear = [&](char end) {
    char byte = 0;
    while (said.find(end) == std::string::npos && read(from_child[0], &byte, 1) == 1) said += byte;
    return said.find(end) != std::string::npos;
  };
  const bool is_ready = hear('y');  // "ready"
  const double ms = seconds_since(start) * 1000, cpu_ms = process_cpu_ms(pid);
  const bool is_idle = hear('l');  // "idle"
  const Started started{ms, cpu_ms, resident_mb(pid)};
  close(to_child[1]);
  close(from_child[0]);
  waitpid(pid, nullptr, 0);
  SLIPWAY_CHECK(is_ready && is_idle, "slipway did not start");
  return started;
}

void fill(const std::string& folder, int objects) {
  PlaneBench plane(folder);
  plane.run([&](PlaneBench& open) -> Task<> {
    int next = 0;
    auto some = [](PlaneBench& in, int& number, int end) -> Task<> {
      while (number < end) {
        const auto created = co_await client::create(in.server(), {"", "v1", "configmaps"}, config_map(number++, 700), "bench");
        SLIPWAY_CHECK(created.has_value(), created.error().message);
      }
    };
    Tasks tasks(open.env());
    for (int i = 0; i < 64; ++i) tasks.spawn(some(open, next, objects));
    co_await tasks.join();
  });
}

}  // namespace

Figures measure_start(const Settings& settings) {
  const std::string empty = settings.folder + "/start-empty";
  const std::string full = settings.folder + "/start-full";
  fill(empty, 0);
  fill(full, settings.share_of(10'000));
  std::vector<double> empty_ms;
  std::vector<double> full_ms;
  std::vector<double> rss;
  std::vector<double> cpu;
  for (int i = 0; i < 9; ++i) {
    const Started one = start_once(settings, empty);
    empty_ms.push_back(one.ms);
    rss.push_back(one.rss_mb);
    cpu.push_back(one.cpu_ms);
    full_ms.push_back(start_once(settings, full).ms);
  }
  return {{"start_ms", {median(empty_ms), "ms", "<= 50", "exec to the first answer of the API server, empty store"}},
          {"start_cpu_ms", {median(cpu), "ms", "", "CPU of that start, in steps of 10 ms"}},
          {"start_10k_ms", {median(full_ms), "ms", "<= 50", "the same with 10,000 ConfigMaps of 1 kB"}},
          {"idle_rss_mb", {median(rss), "MB", "<= 40", "resident memory with all controllers running, empty store"}}};
}

}  // namespace slipway::bench

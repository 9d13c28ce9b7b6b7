// store_create_per_s: durable creates through the server with 64 in flight, beside etcd with the same payload.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/check.h"
#include "base/digest.h"
#include "etcd.h"
#include "json/text.h"
#include "plane_bench.h"

namespace slipway::bench {
namespace {

constexpr int kInFlight = 64;
constexpr int kCreates = 20'000;
constexpr std::size_t kPayload = 1000;

Task<> create_some(PlaneBench& plane, int& next, int end) {
  while (next < end) {
    const auto created =
        co_await client::create(plane.server(), {"", "v1", "configmaps"}, config_map(next++, kPayload), "bench");
    SLIPWAY_CHECK(created.has_value(), created.error().message);
  }
}

double slipway_creates_per_s(const Settings& settings) {
  double rate = 0;
  const int creates = settings.share_of(kCreates);
  PlaneBench plane(settings.folder + "/store");
  plane.run([&](PlaneBench& open) -> Task<> {
    int next = 0;
    const Instant start = tick();
    Tasks tasks(open.env());
    for (int i = 0; i < kInFlight; ++i) tasks.spawn(create_some(open, next, creates));
    co_await tasks.join();
    rate = creates / seconds_since(start);
  });
  return rate;
}

double etcd_puts_per_s(const Settings& settings) {
  const Etcd etcd(settings.folder + "/etcd");
  if (!etcd.is_ready()) return 0;
  const int puts = settings.share_of(10'000);
  std::atomic<int> next = 0;
  std::atomic<int> done = 0;
  const Instant start = tick();
  std::vector<std::thread> threads;
  for (int i = 0; i < kInFlight; ++i) {
    threads.emplace_back([&] {
      const int fd = etcd.connect();
      for (int number = next++; number < puts && fd >= 0; number = next++) {
        const std::string key = base64_encode(fmt::format("/registry/configmaps/default/c{}", number));
        const std::string value = base64_encode(json::print(config_map(number, kPayload)));
        if (ask_etcd(fd, "/v3/kv/put", fmt::format(R"({{"key":"{}","value":"{}"}})", key, value)).empty()) break;
        ++done;
      }
      if (fd >= 0) close(fd);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return done / seconds_since(start);
}

}  // namespace

Figures measure_store(const Settings& settings) {
  std::vector<double> ours;
  for (int i = 0; i < 3; ++i) ours.push_back(slipway_creates_per_s(settings));
  const double etcd = etcd_puts_per_s(settings);
  Figures figures;
  figures["store_create_per_s"] = {
      median(ours), "1/s", "", "ConfigMaps of 1 kB, durable, 64 in flight, validated and tracked by the API server in process"};
  if (etcd > 0)
    figures["etcd_put_per_s"] = {etcd, "1/s", "", "the same objects into Debian's etcd over its HTTP gateway, 64 connections"};
  return figures;
}

}  // namespace slipway::bench

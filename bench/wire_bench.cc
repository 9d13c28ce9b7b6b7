// The API over TLS, from another process: requests per second, watch fan-out, and what many objects cost. ConfigMaps, durable
// before each answer, 16 kept connections.
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "bench.h"
#include "up_process.h"

namespace slipway::bench {
namespace {

using up::Access;
using up::UpProcess;
using up::User;

constexpr int kWireConnections = 16;
constexpr int kWireRounds = 5;
constexpr std::string_view kConfigMaps = "/api/v1/namespaces/default/configmaps";

std::string fresh(const Settings& settings, const std::string& name) {
  std::filesystem::remove_all(settings.folder + "/" + name);
  return settings.folder + "/" + name;
}

/// `calls` calls with `workers` at a time. Gives the seconds of each, in the order of their ends.
std::vector<double> measure(User& user, int workers, int calls, std::function<HttpCall(int)> make) {
  std::vector<double> seconds;
  int next = 0;
  auto worker = [](User& self, int& number, int end, const std::function<HttpCall(int)>& call_of,
                   std::vector<double>& times) -> Task<> {
    while (number < end) {
      HttpCall call = call_of(number++);
      call.timeout = std::chrono::seconds{120};
      const Instant start = tick();
      const auto answer = co_await self.client().send(std::move(call));
      SLIPWAY_CHECK(answer.has_value(), answer.error().message);
      SLIPWAY_CHECK(answer->status < 300, answer->body);
      times.push_back(seconds_since(start));
    }
  };
  user.run([&](User& self) -> Task<> {
    Tasks tasks(self.env());
    for (int i = 0; i < workers; ++i) tasks.spawn(worker(self, next, calls, make, seconds));
    co_await tasks.join();
  });
  return seconds;
}

/// Calls per second, median of the rounds.
double rate(User& load, int calls, const std::function<HttpCall(int round, int number)>& make) {
  std::vector<double> rates;
  for (int round = 0; round < kWireRounds; ++round) {
    const Instant start = tick();
    measure(load, kWireConnections, calls, [&](int number) { return make(round, number); });
    rates.push_back(calls / seconds_since(start));
  }
  return median(rates);
}

struct Fanout {
  double events_per_s = 0;
  double p99_lag_ms = 0;
};

/// The revision of the ConfigMaps now, as an informer has it from its list.
Task<std::string> revision_now(User& load) {
  const auto answer = co_await load.client().send(load.get(std::string(kConfigMaps) + "?limit=1"));
  SLIPWAY_CHECK(answer.has_value() && answer->status == 200, "list refused");
  constexpr std::string_view mark = R"("resourceVersion":")";
  const std::size_t at = answer->body.find(mark) + mark.size();
  co_return answer->body.substr(at, answer->body.find('"', at) - at);
}

/// Watches from revision `from` until `events` objects of the run have come. Every object carries the moment of its sending.
Task<> follow(User& load, int run, std::string from, int events, int& ready, std::vector<double>& lags, int& seen) {
  HttpCall call =
      load.get(std::string(kConfigMaps) + fmt::format("?watch=true&resourceVersion={}&labelSelector=bench%3Drun{}", from, run));
  call.is_streaming = true;
  call.timeout = std::chrono::seconds{60};
  auto answer = co_await load.client().send(std::move(call));
  SLIPWAY_CHECK(answer.has_value(), answer.error().message);
  SLIPWAY_CHECK(answer->status == 200 && answer->stream, fmt::format("watch refused: {}", answer->status));
  ++ready;
  std::string rest;
  constexpr std::string_view mark = R"("sent":")";
  for (int own = 0; own < events;) {
    auto piece = co_await answer->stream->next();
    SLIPWAY_CHECK(piece.has_value() && piece->has_value(), "watch ended early");
    const double now = std::chrono::duration<double>(tick().time_since_epoch()).count();
    rest += **piece;
    std::size_t line = 0;
    for (std::size_t end; (end = rest.find('\n', line)) != std::string::npos; line = end + 1) {
      const std::size_t at = rest.find(mark, line);
      if (at >= end) continue;
      lags.push_back(now - std::strtod(rest.c_str() + at + mark.size(), nullptr));
      ++own;
      ++seen;
    }
    rest.erase(0, line);
  }
  answer->stream->close();
}

HttpCall timed_create(const User& load, int number, int run) {
  HttpCall call = load.create(fmt::format("fan-{}-{}", run, number), 700);
  const double now = std::chrono::duration<double>(tick().time_since_epoch()).count();
  call.body = fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"fan-{}-{}","labels":{{"bench":"run{}"}}}},"data":{{"sent":"{:.6f}","text":"{}"}}}})",
      run, number, run, now, std::string(700, 'x'));
  return call;
}

Task<> write_paced(User& load, int events, int run, Duration pause) {
  for (int i = 0; i < events; ++i) {
    const auto answer = co_await load.client().send(timed_create(load, i, run));
    SLIPWAY_CHECK(answer.has_value() && answer->status == 201, "create refused");
    co_await sleep_for(load.env(), pause);
  }
}

/// `watchers` watches of their own connections see `events` creates, one every 20 ms.
Fanout measure_fanout(const Access& access, int watchers, int events) {
  User load(access, static_cast<std::size_t>(watchers) + 4);
  std::vector<double> lags;
  int ready = 0;
  int seen = 0;
  double seconds = 0;
  load.run([&](User& in) -> Task<> {
    Tasks tasks(in.env());
    const std::string from = co_await revision_now(in);
    for (int i = 0; i < watchers; ++i) {
      tasks.spawn(follow(in, watchers, from, events, ready, lags, seen));
      // Connections are made a few at a time: how long a thousand handshakes take beside each other is not what is measured.
      while (i - ready >= kWireConnections) co_await sleep_for(in.env(), std::chrono::milliseconds{1});
    }
    while (ready < watchers) co_await sleep_for(in.env(), std::chrono::milliseconds{5});
    const Instant start = tick();
    co_await write_paced(in, events, watchers, std::chrono::milliseconds{20});
    co_await tasks.join();
    seconds = seconds_since(start);
  });
  SLIPWAY_CHECK(seen == watchers * events, "a watcher lost events");
  return {seen / seconds, percentile(lags, 0.99) * 1000};
}

void add_fanout(Figures& figures, const Settings& settings, const Access& access) {
  for (const int watchers : {1, 100, 1000}) {
    const Fanout fanout = measure_fanout(access, watchers, settings.share_of(watchers == 1000 ? 100 : 250));
    figures[fmt::format("wire_watch{}_p99_ms", watchers)] = {
        fanout.p99_lag_ms, "ms", "",
        "from before the create is sent to the event parsed, load process included; one create per 20 ms"};
    figures[fmt::format("wire_watch{}_events_per_s", watchers)] = {fanout.events_per_s, "1/s", "", ""};
  }
}

/// Fills with `count` objects of `bytes` and gives the JSON bytes of one as the server shows it.
double fill(User& load, int count, std::size_t bytes, std::vector<double>* seconds = nullptr) {
  auto times = measure(load, kWireConnections, count, [&](int i) { return load.create(fmt::format("c{:06}", i), bytes); });
  if (seconds != nullptr) *seconds = std::move(times);
  double size = 0;
  load.run([&](User& in) -> Task<> {
    const auto answer = co_await in.client().send(in.get(std::string(kConfigMaps) + "/c000000"));
    SLIPWAY_CHECK(answer.has_value() && answer->status == 200, "get refused");
    size = static_cast<double>(answer->body.size());
  });
  return size;
}

Task<> list_until(User& load, const std::atomic<bool>& is_over, std::atomic<int>& lists) {
  while (!is_over) {
    HttpCall call = load.get(std::string(kConfigMaps));
    call.is_streaming = true;  // read and dropped
    call.timeout = std::chrono::seconds{120};
    auto answer = co_await load.client().send(std::move(call));
    SLIPWAY_CHECK(answer.has_value() && answer->status == 200, "list refused");
    ++lists;
    while (!is_over) {
      const auto piece = co_await answer->stream->next();
      SLIPWAY_CHECK(piece.has_value(), "a list was cut");
      if (!*piece) break;
    }
    answer->stream->close();
  }
}

/// GETs one after the other while `listers` others list everything over and over, each on a connection and all in a thread of
/// their own.
double get_beside_lists_p99_ms(const Access& access, int listers, int gets) {
  std::atomic<bool> is_over = false;
  std::atomic<int> lists = 0;
  std::thread others([&] {
    User load(access, static_cast<std::size_t>(listers));
    load.run([&](User& in) -> Task<> {
      Tasks tasks(in.env());
      for (int i = 0; i < listers; ++i) tasks.spawn(list_until(in, is_over, lists));
      co_await tasks.join();
    });
  });
  User user(access, 1);
  const auto get = [&](int i) { return user.get(fmt::format("{}/c{:06}", kConfigMaps, i)); };
  while (lists < listers) measure(user, 1, 1, get);
  const std::vector<double> seconds = measure(user, 1, gets, get);
  is_over = true;
  others.join();
  return percentile(seconds, 0.99) * 1000;
}

void add_memory(Figures& figures, const Settings& settings) {
  UpProcess server(settings.slipway, fresh(settings, "wire-100k"));
  User load(server.access(), kWireConnections);
  const double before = resident_mb(server.pid());
  const int count = settings.share_of(100'000);
  const double bytes = fill(load, count, 700);
  const double after = resident_mb(server.pid());
  figures["rss_100k_mb"] = {after, "MB", "", "100,000 ConfigMaps of 1 kB"};
  figures["bytes_per_json_byte"] = {(after - before) * 1048576 / (bytes * count), "", "<= 1.5",
                                    "resident growth over JSON bytes"};
  figures["wire_get_beside_lists_p99_ms"] = {get_beside_lists_p99_ms(server.access(), 4, settings.share_of(2'000)), "ms",
                                             "<= 10", "GETs while four clients list those 100,000 over and over"};
}

}  // namespace

Figures measure_wire(const Settings& settings) {
  Figures figures;
  UpProcess server(settings.slipway, fresh(settings, "wire"));
  User load(server.access(), kWireConnections);
  const int creates = settings.share_of(10'000);
  figures["wire_create_per_s"] = {
      rate(load, creates, [&](int round, int i) { return load.create(fmt::format("r{}-{}", round, i), 700); }), "1/s", "",
      "1 kB ConfigMaps over TLS, 16 connections, durable"};
  figures["wire_get_per_s"] = {rate(load, settings.share_of(20'000),
                                    [&](int, int i) { return load.get(fmt::format("{}/r0-{}", kConfigMaps, i % creates)); }),
                               "1/s", "", ""};
  add_fanout(figures, settings, server.access());
  server.stop();

  UpProcess lists(settings.slipway, fresh(settings, "wire-list"));
  User reader(lists.access(), kWireConnections);
  fill(reader, creates, 700);
  figures["wire_list10k_ms"] = {median(measure(reader, 1, 9, [&](int) { return reader.get(std::string(kConfigMaps)); })) * 1000,
                                "ms", "", ""};
  lists.stop();
  add_memory(figures, settings);
  return figures;
}

Figures measure_large(const Settings& settings) {
  Figures figures;
  const std::string folder = fresh(settings, "wire-large");
  std::vector<double> seconds;
  {
    UpProcess server(settings.slipway, folder);
    User load(server.access(), kWireConnections);
    const int count = settings.share_of(400'000);
    fill(load, count, 3'700, &seconds);
    figures["rss_400k_mb"] = {resident_mb(server.pid()), "MB", "<= 6144", "400,000 ConfigMaps of 4 kB"};
    const std::vector<double> last(seconds.end() - count / 10, seconds.end());
    figures["write_400k_p99_ms"] = {percentile(last, 0.99) * 1000, "ms", "<= 20", "the last 40,000 creates, 16 at a time"};
  }
  UpProcess again(settings.slipway, folder);
  figures["start_400k_ms"] = {again.start_ms(), "ms", "", "exec to /readyz with that data"};
  figures["rss_400k_restart_mb"] = {resident_mb(again.pid()), "MB", "<= 6144", "after the restart"};
  again.stop();
  std::filesystem::remove_all(folder);
  return figures;
}

Figures measure_clusters(const Settings& settings) {
  UpProcess one(settings.slipway, fresh(settings, "clusters-1"), {"--clusters", "c0"});
  UpProcess eleven(settings.slipway, fresh(settings, "clusters-11"), {"--clusters", "c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10"});
  usleep(500'000);
  return {{"ten_clusters_mb",
           {resident_mb(eleven.pid()) - resident_mb(one.pid()), "MB", "", "resident memory of ten more idle clusters"}},
          {"ten_clusters_start_ms", {eleven.start_ms() - one.start_ms(), "ms", "", "start with ten more, folders fresh"}}};
}

}  // namespace slipway::bench

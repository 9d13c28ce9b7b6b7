// Rollouts carried out by `slipway controller`, a process of its own, on `slipway up`, another one, whose pods are simulated:
// what active ones cost while each does a batch per minute and asks one gate every ten seconds, what finished ones cost at
// rest, and how soon a batch follows its pods.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "base/check.h"
#include "bench.h"
#include "controller_process.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"
#include "net/server.h"
#include "rollout_script.h"
#include "up_process.h"

namespace slipway::bench {
namespace {

using delivery::rollout::kTraitKind;
using delivery::rollout::kTraits;
using json::Value;
using up::UpProcess;
using up::User;
using namespace std::chrono_literals;

constexpr std::size_t kRolloutConnections = 16;
constexpr int kRolloutPods = 4;
constexpr int kQuick = 20;  // rollouts of ten pods in five batches

/// Creates what `make` gives for the numbers up to `end`, over several connections.
Task<> create_all(User& user, kube::Resource resource, int end, std::function<Value(int)> make) {
  co_await for_all(user, kRolloutConnections - 4, end, [&user, resource, make = std::move(make)](int number) -> Task<> {
    return create(user, path_of(resource), make(number));
  });
}

/// What watches have told of the two kinds, and how long a rollout took to write after its pods were ready.
struct Seen {
  std::map<std::string, std::string> states;    // of rollouts
  std::map<std::string, std::int64_t> ready;    // pods of Deployments
  std::map<std::string, std::int64_t> batches;  // of rollouts: the current one
  std::map<std::string, Instant> waiting;       // rollouts whose pods became ready, and when
  std::vector<double> reaction_ms;
};

void note(Seen& seen, const Value& object) {
  const std::string name(kube::name(object));
  const Value& status = object["status"];
  if (kube::kind(object) == kTraitKind.kind) {
    seen.states[name] = status["rollingState"].str();
    const std::int64_t batch = status["currentBatch"].as_int();
    const std::string_view state = status["batchRollingState"].as_string();
    const auto since = seen.waiting.find(name);
    // The pods are seen: the batch is past its verification, or the next one has begun already.
    const bool is_past = batch > seen.batches[name] || (state != "batchVerifying" && state != "batchInRolling");
    if (since != seen.waiting.end() && is_past) {
      seen.reaction_ms.push_back(seconds_since(since->second) * 1000);
      seen.waiting.erase(since);
    }
    seen.batches[name] = batch;
    return;
  }
  const std::int64_t ready = status["readyReplicas"].as_int();
  // "a-00001-v2" is the target of "a-00001".
  const bool is_complete = ready == object["spec"]["replicas"].as_int() && ready > seen.ready[name];
  if (is_complete && name.starts_with("a-") && name.ends_with("-v2")) seen.waiting.emplace(name.substr(0, 7), tick());
  seen.ready[name] = ready;
}

int number_of(const char* variable, int otherwise) {
  const char* said = std::getenv(variable);
  return said == nullptr ? otherwise : std::atoi(said);
}

class RolloutBench {
 public:
  RolloutBench(const Settings& settings, std::string folder)
      : settings_(settings),
        server_(settings.slipway, folder, {"--controllers", "cluster"}),
        controller_(settings.slipway, folder),
        user_(server_.access(), kRolloutConnections) {}

  Figures measure() {
    user_.run([this](User& user) -> Task<> {
      auto gate = net::HttpServer::listen(user.env(), {});
      SLIPWAY_CHECK(gate.has_value(), gate ? "" : gate.error().message);
      gate_ = (*gate)->address();
      Tasks tasks(user.env());
      tasks.spawn((*gate)->run([](http::Request, std::shared_ptr<const net::ConnectionInfo>) -> Task<net::Answer> {
        co_return net::Answer(http::Response{.status = 200, .body = R"({"value": 1})"});
      }));
      for (const kube::Resource& resource : {kube::kDeployments, kTraits}) {
        tasks.spawn(follow(user, resource, is_over_, [seen = seen_](const Value& object) { note(*seen, object); }));
      }
      co_await quick(user);
      co_await finished(user);
      co_await active(user);
      *is_over_ = true;
      co_await create(user, path_of(kube::kDeployments), deployment("z", 0));  // an event for each watch, which then ends
      co_await create(user, path_of(kTraits), rollout("z", "z", "", R"({"targetSize": 0, "numBatches": 1})"));
      (*gate)->stop(Duration{0});
      co_await tasks.join();
    });
    return std::move(figures_);
  }

 private:
  std::size_t count_of(char group, const std::string& state) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        seen_->states, [&](const auto& one) { return one.first.front() == group && one.second == state; }));
  }

  Task<> quick(User& user) {
    std::vector<double> seconds;
    for (int i = 0; i < kQuick; ++i) {
      const std::string name = name_of('q', i);
      co_await create(user, path_of(kube::kDeployments), deployment(name + "-v1", 10));
      co_await create(user, path_of(kube::kDeployments), deployment(name + "-v2", 0));
      co_await until(user, [&] { return seen_->ready[name + "-v1"] == 10; });
      const Instant start = tick();
      co_await create(user, path_of(kTraits), rollout(name, name + "-v2", name + "-v1", R"({"numBatches": 5})"));
      co_await until(user, [&] { return seen_->states[name] == "rolloutSucceed"; });
      seconds.push_back(seconds_since(start));
    }
    figures_["rollout_ten_in_five_s"] = {
        median(seconds), "s", "< 1", fmt::format("10 pods in 5 batches, ready at once: median of {}; {}", kQuick, load_note())};
  }

  /// Scales from none to four pods that have ended.
  Task<> finished(User& user) {
    const int count = number_of("SLIPWAY_ROLLOUTS_FINISHED", settings_.share_of(2000));
    co_await create_all(user, kube::kDeployments, count, [](int i) { return deployment(name_of('f', i), 0); });
    co_await create_all(user, kTraits, count, [](int i) {
      return rollout(name_of('f', i), name_of('f', i), "",
                     fmt::format(R"({{"targetSize": {}, "numBatches": 1}})", kRolloutPods));
    });
    co_await until(user, [&] { return count_of('f', "rolloutSucceed") == static_cast<std::size_t>(count); });
    co_await sleep_for(user.env(), 10s);
    const Requests before = co_await requests_so_far(user);
    const double cpu = controller_.cpu_ms();
    const Instant start = tick();
    co_await sleep_for(user.env(), window_);
    const double used = controller_.cpu_ms() - cpu;
    const Requests after = co_await requests_so_far(user);
    const std::string what = fmt::format("{} finished over {:.0f} s", count, seconds_since(start));
    figures_["rollout_rest_writes"] = {after.writes - before.writes, "", "<= 0", what};
    figures_["rollout_rest_cores"] = {used / 1000 / seconds_since(start), "", "<= 0.1", what};
  }

  std::string plan() const {
    std::string batches;
    for (int i = 0; i < kRolloutPods; ++i)
      batches += fmt::format(R"({}{{"replicas": 1, "instanceInterval": 60}})", i == 0 ? "" : ", ");
    const std::string metric = fmt::format(
        R"({{"provider": "web", "address": "http://{}/", "settings": {{"jsonPath": "{{$.value}}"}}, "min": 1, "interval": "10s"}})",
        gate_);
    return fmt::format(R"({{"rolloutBatches": [{}], "gates": [{{"name": "ask", "at": "throughout", "metric": {}}}]}})", batches,
                       metric);
  }

  Task<> active(User& user) {
    const int count = number_of("SLIPWAY_ROLLOUTS_ACTIVE", settings_.share_of(500));
    for (const char* version : {"-v1", "-v2"}) {
      co_await create_all(user, kube::kDeployments, count, [version](int i) {
        return deployment(name_of('a', i) + version, version == std::string_view("-v1") ? kRolloutPods : 0);
      });
    }
    co_await until(user, [&] {
      return std::ranges::count_if(seen_->ready, [](const auto& one) {
               return one.first.front() == 'a' && one.first.ends_with("-v1") && one.second == kRolloutPods;
             }) == count;
    });
    const std::string plan_text = plan();
    // Over the minute that a batch takes, as they begin where many teams deliver: not all batches end in one moment.
    const Instant first = tick();
    for (int i = 0; i < count; ++i) {
      const double ahead = 60.0 * i / count - seconds_since(first);
      if (ahead > 0) co_await sleep_for(user.env(), std::chrono::microseconds{static_cast<std::int64_t>(ahead * 1e6)});
      co_await create(user, path_of(kTraits),
                      rollout(name_of('a', i), name_of('a', i) + "-v2", name_of('a', i) + "-v1", plan_text));
    }
    seen_->reaction_ms.clear();
    const auto batches = [&] {
      double sum = 0;
      for (const auto& [name, batch] : seen_->batches) sum += name.front() == 'a' ? static_cast<double>(batch) : 0;
      return sum;
    };
    const Requests before = co_await requests_so_far(user);
    const double cpu = controller_.cpu_ms(), done = batches();
    const Instant start = tick();
    co_await sleep_for(user.env(), window_);
    const double used = controller_.cpu_ms() - cpu, more = batches() - done;
    const Requests after = co_await requests_so_far(user);
    const std::string what =
        fmt::format("{} active over {:.0f} s, {:.0f} batches; {}", count, seconds_since(start), more, load_note());
    figures_["rollout_active_cores"] = {used / 1000 / seconds_since(start), "", "", what};
    figures_["rollout_rss_mb"] = {resident_mb(controller_.pid()), "MB", "<= 2048", what};
    figures_["rollout_reaction_p99_ms"] = {
        percentile(seen_->reaction_ms, 0.99), "ms", "<= 100",
        fmt::format("ready pods to the write that says so, {} times", seen_->reaction_ms.size())};
    const auto per_batch = [&](const std::string& resource, std::string_view subresource) {
      double sum = 0;
      for (const auto& [kind, number] : after.by_kind) {
        const bool is_write = kind.starts_with("PATCH ") || kind.starts_with("UPDATE ");
        if (!is_write || !kind.contains(fmt::format(" {} {}", resource, subresource))) continue;
        const auto earlier = before.by_kind.find(kind);
        sum += number - (earlier == before.by_kind.end() ? 0 : earlier->second);
      }
      return more > 0 ? std::round(10 * sum / more) / 10 : 0;  // a batch or two are cut by the ends of the window
    };
    figures_["rollout_status_writes"] = {per_batch(kTraits.plural, "status"), "", "<= 2", "writes of the own status per batch"};
    figures_["rollout_workload_writes"] = {per_batch("deployments", ""), "", "<= 2", "writes of two workloads per batch"};
  }

  const Settings settings_;
  UpProcess server_;
  ControllerProcess controller_;
  User user_;
  const Duration window_ = std::chrono::seconds{number_of("SLIPWAY_ROLLOUTS_SECONDS", settings_.share_of(120))};
  std::string gate_;
  std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
  std::shared_ptr<bool> is_over_ = std::make_shared<bool>(false);
  Figures figures_;
};

}  // namespace

/// SLIPWAY_ROLLOUTS_ACTIVE (default 500) and SLIPWAY_ROLLOUTS_FINISHED (2,000): how many. SLIPWAY_ROLLOUTS_SECONDS (120): how
/// long each of the two is looked at.
Figures measure_rollouts(const Settings& settings) {
  const std::string folder = settings.folder + "/rollouts";
  std::filesystem::remove_all(folder);
  return RolloutBench(settings, folder).measure();
}

}  // namespace slipway::bench

// The same rollout by `slipway controller` and by Argo Rollouts' controller (tools/argo-rollouts builds it), one after the
// other on one `slipway up` whose pods are simulated and ready at once: ten pods in five batches without a gate, first alone,
// then many at the same time. Both are judged by what becomes of their ReplicaSets.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/check.h"
#include "bench.h"
#include "controller_process.h"
#include "delivery/rollout/kind.h"
#include "etcd.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "rollout_script.h"

namespace slipway::bench {
namespace {

using delivery::rollout::kTraits;
using json::Value;
using up::UpProcess;
using up::User;
using namespace std::chrono_literals;

constexpr std::size_t kPeerConnections = 12;
constexpr int kPeerPods = 10;
constexpr int kAlone = 10;  // rollouts one after the other
constexpr const char* kOld = "shop:1";
constexpr const char* kNew = "shop:2";

/// Argo's kind has the names of one of ours.
const kube::Resource kArgoRollouts{"argoproj.io", "v1alpha1", delivery::rollout::kRollouts.plural};

/// The two ReplicaSets of each rollout, by the first seven letters of their names, and how long the new one waited at each size
/// with all its pods ready.
struct Sets {
  struct Pair {
    std::int64_t old_ready = 0, old_pods = 0, new_ready = 0, asked = 0;
    std::optional<Instant> complete;
  };
  std::map<std::string, Pair> pairs;
  std::vector<double> reaction_ms;

  bool are_rolled(const std::string& name) const {
    const auto known = pairs.find(name);
    return known != pairs.end() && known->second.new_ready == kPeerPods && known->second.old_pods == 0;
  }
  bool are_begun(const std::string& name) const {
    const auto known = pairs.find(name);
    return known != pairs.end() && known->second.old_ready == kPeerPods;
  }
};

void note(Sets& sets, const Value& object) {
  Sets::Pair& pair = sets.pairs[std::string(kube::name(object).substr(0, 7))];
  const std::int64_t asked = object["spec"]["replicas"].as_int(), ready = object["status"]["readyReplicas"].as_int();
  if (object["spec"]["template"]["spec"]["containers"].item(0)["image"].as_string() == kOld) {
    pair.old_ready = ready;
    pair.old_pods = object["status"]["replicas"].as_int();
    return;
  }
  if (asked > pair.asked && pair.complete) {
    sets.reaction_ms.push_back(seconds_since(*pair.complete) * 1000);
    pair.complete.reset();
  }
  pair.asked = asked;
  pair.new_ready = ready;
  if (asked > 0 && ready == asked && !pair.complete) pair.complete = tick();
}

/// One of the two controllers: how it is run, what it is given before, and what begins a rollout.
struct Peer {
  std::string name;
  std::string binary;
  std::vector<std::string> args;
  char group;  // first letter of its rollouts
  std::function<Task<>(User&, std::string)> prepare;
  std::function<Task<>(User&, std::string)> begin;
};

Task<> prepare_ours(User& user, std::string name) {
  co_await create(user, path_of(kube::kDeployments), deployment(name + "-v1", kPeerPods, kOld));
  co_await create(user, path_of(kube::kDeployments), deployment(name + "-v2", 0, kNew));
}

Task<> begin_ours(User& user, std::string name) {
  co_await create(user, path_of(kTraits), rollout(name, name + "-v2", name + "-v1", R"({"numBatches": 5})"));
}

Task<> prepare_argo(User& user, std::string name) {
  json::ArrayBuilder steps;
  for (const int weight : {20, 40, 60, 80}) steps.add(json::object({{"setWeight", weight}}));
  const Value canary = json::object({{"maxSurge", kPeerPods / 5}, {"maxUnavailable", 0}, {"steps", steps.build()}});
  const Value made = deployment(name, kPeerPods, kOld)
                         .with("apiVersion", fmt::format("{}/{}", kArgoRollouts.group, kArgoRollouts.version))
                         .with("kind", delivery::rollout::kRolloutKind.kind)
                         .with_path({"spec", "strategy", "canary"}, canary);
  co_await create(user, path_of(kArgoRollouts), made);
}

Task<> begin_argo(User& user, std::string name) {
  const Value spec = json::object({{"template", pod_template(name, kNew)}});
  HttpCall call = user.post(path_of(kArgoRollouts) + "/" + name, json::print(json::object({{"spec", spec}})));
  call.method = "PATCH";
  call.headers = {{"Content-Type", "application/merge-patch+json"}};
  const auto answer = co_await user.client().send(std::move(call));
  SLIPWAY_CHECK(answer.has_value() && answer->status == 200, answer ? answer->body : answer.error().message);
}

Peer argo_in(const std::string& folder) {
  const auto [metrics, health] = free_ports();
  return {.name = "argo",
          .binary = folder + "/rollouts-controller",
          .args = {"--leader-elect=false", "--loglevel", "error", "--metricsport", std::to_string(metrics), "--healthzPort",
                   std::to_string(health)},
          .group = 'a',
          .prepare = prepare_argo,
          .begin = begin_argo};
}

Task<> define(User& user, std::string folder) {
  co_await create(
      user, "/api/v1/namespaces",
      json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", "argo-rollouts"}})}}));
  for (const auto& file : std::filesystem::directory_iterator(folder + "/crds")) {
    std::ifstream in(file.path());
    std::stringstream text;
    text << in.rdbuf();
    const auto definition = json::parse_yaml(text.str());
    SLIPWAY_CHECK(definition.has_value(), file.path().string());
    co_await create(user, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", *definition);
  }
  co_await sleep_for(user.env(), 1s);
}

class RolloutPeers {
 public:
  explicit RolloutPeers(const Settings& settings)
      : settings_(settings), folder_(settings.folder + "/peers"), server_(start()), user_(server_.access(), kPeerConnections) {}

  Figures measure() {
    const std::string argo = settings_.peers + "/argo";
    user_.run([this, argo](User& user) -> Task<> {
      Tasks tasks(user.env());
      tasks.spawn(follow(user, kube::kReplicaSets, is_over_, [sets = sets_](const Value& object) { note(*sets, object); }));
      co_await measure(user, {.name = "slipway",
                              .binary = settings_.slipway,
                              .args = {"controller"},
                              .group = 's',
                              .prepare = prepare_ours,
                              .begin = begin_ours});
      if (std::filesystem::exists(argo + "/rollouts-controller")) {
        co_await define(user, argo);
        co_await measure(user, argo_in(argo));
      } else {
        fmt::print("rollout_argo: not measured: there is no {}/rollouts-controller; tools/argo-rollouts builds it, with go\n",
                   argo);
      }
      *is_over_ = true;
      co_await create(user, path_of(kube::kDeployments), deployment("z-00000", 0));  // an event for the watch, which then ends
      co_await tasks.join();
    });
    return std::move(figures_);
  }

 private:
  UpProcess start() {
    std::filesystem::remove_all(folder_);
    return UpProcess(settings_.slipway, folder_, {"--controllers", "cluster"});
  }

  Task<> prepare(User& user, const Peer& peer, int from, int count) {
    co_await for_all(user, kPeerConnections - 4, count,
                     [&](int i) -> Task<> { return peer.prepare(user, name_of(peer.group, from + i)); });
    co_await until(user, [&] { return all(peer, from, count, &Sets::are_begun); });
  }
  bool all(const Peer& peer, int from, int count, bool (Sets::*holds)(const std::string&) const) const {
    for (int i = from; i < from + count; ++i) {
      if (!((*sets_).*holds)(name_of(peer.group, i))) return false;
    }
    return true;
  }

  /// With Argo the rollout itself makes the first pods: its controller is there from the beginning, and ours too.
  Task<> measure(User& user, Peer peer) {
    ControllerProcess controller(peer.binary, folder_, peer.args);
    const int count = settings_.share_of(100);
    co_await prepare(user, peer, 0, kAlone + count);
    co_await sleep_for(user.env(), 5s);
    const auto tell = [&](const std::string& what, double value, const std::string& unit, const std::string& note) {
      figures_[fmt::format("rollout_{}_{}", peer.name, what)] = {value, unit, "", note};
    };
    sets_->reaction_ms.clear();
    std::vector<double> seconds;
    for (int i = 0; i < kAlone; ++i) {
      const std::string name = name_of(peer.group, i);
      const Instant start = tick();
      co_await peer.begin(user, name);
      co_await until(user, [&] { return sets_->are_rolled(name); });
      seconds.push_back(seconds_since(start));
    }
    tell("alone_s", median(seconds), "s", fmt::format("10 pods in 5 batches: median of {}; {}", kAlone, load_note()));
    tell("alone_reaction_ms", median(sets_->reaction_ms), "ms",
         fmt::format("pods ready to the next size of the new ReplicaSet: median of {}", sets_->reaction_ms.size()));
    co_await sleep_for(user.env(), 5s);

    sets_->reaction_ms.clear();
    const Requests before = co_await requests_so_far(user);
    const double cpu = controller.cpu_ms();
    const Instant start = tick();
    co_await for_all(user, kPeerConnections - 4, count,
                     [&](int i) -> Task<> { return peer.begin(user, name_of(peer.group, kAlone + i)); });
    co_await until(user, [&] { return all(peer, kAlone, count, &Sets::are_rolled); });
    const double whole = seconds_since(start);
    co_await sleep_for(user.env(), 5s);  // what it writes of their end
    const Requests after = co_await requests_so_far(user);
    const std::string what = fmt::format("{} rollouts at once; {}", count, load_note());
    tell("many_s", whole, "s", what);
    tell("many_reaction_p50_ms", median(sets_->reaction_ms), "ms", fmt::format("of {}", sets_->reaction_ms.size()));
    tell("many_reaction_p99_ms", percentile(sets_->reaction_ms, 0.99), "ms", fmt::format("of {}", sets_->reaction_ms.size()));
    tell("cpu_ms", (controller.cpu_ms() - cpu) / count, "ms", "of the controller, per rollout");
    tell("requests", (after.all - before.all) / count, "", "per rollout, the one that begins it among them");
    tell("writes", (after.writes - before.writes) / count, "", "likewise");
    tell("rss_mb", resident_mb(controller.pid()), "MB", fmt::format("after {} rollouts", kAlone + count));
    for (const auto& [kind, number] : after.by_kind) {
      const auto earlier = before.by_kind.find(kind);
      const double more = number - (earlier == before.by_kind.end() ? 0 : earlier->second);
      if (more >= count) fmt::print("rollout_{}: {:.1f} {} per rollout\n", peer.name, more / count, kind);
    }
    co_await controller.stop(user.env());
  }

  const Settings settings_;
  const std::string folder_;
  UpProcess server_;
  User user_;
  std::shared_ptr<Sets> sets_ = std::make_shared<Sets>();
  std::shared_ptr<bool> is_over_ = std::make_shared<bool>(false);
  Figures figures_;
};

}  // namespace

Figures measure_rollout_peers(const Settings& settings) { return RolloutPeers(settings).measure(); }

}  // namespace slipway::bench

// A control plane on the real machine for one measurement: a fresh folder, a loop, and a way to run a coroutine to its end.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/check.h"
#include "bench.h"
#include "os/real_env.h"
#include "plane/plane.h"

namespace slipway::bench {

class PlaneBench {
 public:
  explicit PlaneBench(const std::string& folder, bool is_fresh = true) : folder_(folder), tasks_(real_.env()) {
    if (is_fresh) std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~PlaneBench() {
    real_.shut();
    controllers_.reset();
    api_.reset();
  }

  Env& env() { return real_.env(); }
  Lane& open_lane(std::string name, os::ThreadLane::Share share = os::ThreadLane::Share::Full) {
    return real_.open_lane(std::move(name), share);
  }
  server::Server& server() { return api_->server(); }
  store::Store& store() { return api_->store(); }
  void start_controllers() {
    plane::Controllers::Options options;
    options.pods = plane::PodRuntimeKind::Simulated;
    controllers_ = std::make_unique<plane::Controllers>(env(), server(), options);
    controllers_->start();
  }

  /// Opens the plane, runs `measure` and closes it.
  void run(std::function<Task<>(PlaneBench&)> measure) {
    tasks_.spawn(all(std::move(measure)));
    real_.run();
  }

 private:
  Task<> all(std::function<Task<>(PlaneBench&)> measure) {
    plane::ApiServer::Options options;
    options.store.path = folder_ + "/cluster.db";
    auto api = co_await plane::ApiServer::open(env(), std::move(options));
    if (!api) broken_invariant("open", __FILE__, __LINE__, api.error().message);
    api_ = std::move(*api);
    co_await measure(*this);
    co_await api_->close();
    real_.stop();
  }

  std::string folder_;
  os::RealEnv real_{os::RealEnvOptions{LogLevel::Error}};
  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<plane::Controllers> controllers_;
  Tasks tasks_;
};

/// A ConfigMap with about `bytes` of data.
inline json::Value config_map(int number, std::size_t bytes) {
  return json::object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::object({{"name", "c" + std::to_string(number)}, {"namespace", "default"}})},
                       {"data", json::object({{"value", std::string(bytes, 'x')}})}});
}

}  // namespace slipway::bench

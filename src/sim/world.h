// A whole world in one thread and in virtual time: an API server process, a controllers' process and a user's, with a disk,
// files and processes that outlive them. Faults strike where the plan says; the same seed gives the same run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_files.h"
#include "plane/plane.h"
#include "sim/domain.h"
#include "sim/exchange.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "store/memory_vfs.h"

namespace slipway::sim {

/// A disk with a started control plane on it (bootstrap objects and CRDs), to clone worlds from.
class Image;

struct WorldOptions {
  std::uint64_t seed = 1;
  FaultPlan faults;
  bool is_shuffled = false;  // ready work in random order (by the seed) instead of first come, first served
  plane::Controllers::Options controllers;
  const Image* image = nullptr;  // nullptr: start from an empty disk
  Duration restart_delay = std::chrono::seconds{1};
  std::size_t history_changes = store::Options{}.history_changes;  // few: slow watchers fall out of the window
  std::size_t watch_batch = server::Options{}.watch_batch;
};

class World : private Gate {
 public:
  explicit World(WorldOptions options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() override;

  /// Starts the server and the controllers. Aborts when the server cannot start on a healthy disk.
  void start();
  /// Runs until `holds` (looked at between steps), moving time when nothing is ready. False when `limit` of virtual time has
  /// passed, or nothing is left to do.
  bool run_until(const std::function<bool()>& holds, Duration limit);
  /// Runs until no process has anything ready and the controllers' queues are empty; timers up to `settle` from then on still
  /// fire.
  void run_until_quiet(Duration settle);
  /// A fault of the world at this moment, whatever the plan says. CutWatches cuts those of the user too.
  void inject(FaultKind kind) { strike(kind); }
  /// The server forgets all history up to now. Nothing while it is down.
  void compact();

  Steady steady() const { return now_; }
  /// The user's client: waits while the server is down and tries again, so that a script can be written without faults in mind.
  client::Client& user() { return *user_; }
  Domain& user_domain() { return user_domain_; }
  FaultInjector& faults() { return faults_; }
  store::MemoryVfs& disk() { return disk_; }
  MemoryFiles& files() { return files_; }
  Supervisors& supervisors() { return supervisors_; }

  /// The newest durable state, read past all faults; nullptr while the server is down.
  server::Server* server() { return api_ ? &api_->server() : nullptr; }
  store::Store* store() { return api_ ? &api_->store() : nullptr; }
  /// Runs a task of the user to its end (virtual time moves); aborts after `limit`.
  void run(Task<> task, Duration limit = std::chrono::hours{24});
  /// All objects of a resource, as the server has them now.
  std::vector<kube::Object> objects(const kube::Resource& resource);

 private:
  friend class FaultClient;
  friend class FaultWatch;
  friend class PatientClient;

  bool pass(Moment moment, std::string_view what, bool is_write) override;
  /// The controllers' process is to be killed before the next step.
  bool are_controllers_dying() const { return pending_crash_ && *pending_crash_ != FaultKind::CrashServer; }
  void crash(FaultKind kind);
  void strike(FaultKind kind);
  void start_server();
  void stop_server();
  void start_controllers();
  bool step(Steady limit);
  /// Passes a request to the server's process, or refuses it when that is down.
  void submit(client::Request request, std::shared_ptr<Exchange> exchange);
  void open_watch(client::Request request, std::shared_ptr<Channel> channel);
  Task<> pump(client::Request request, std::shared_ptr<Channel> channel);

  WorldOptions options_;
  SeededRandom random_;
  SeededRandom order_;
  store::MemoryVfs disk_;
  MemoryFiles files_;
  NoProcesses no_processes_;
  NullLog log_;
  NullMetrics metrics_;
  Steady now_ = VirtualClock::kSteadyStart;
  FaultInjector faults_;
  Domain machine_domain_;
  Supervisors supervisors_;
  FaultFiles fault_files_;
  FaultProcesses fault_processes_;
  Domain server_domain_;
  Domain controllers_domain_;
  Domain user_domain_;
  std::vector<Domain*> domains_;
  std::size_t turn_ = 0;

  std::unique_ptr<plane::ApiServer> api_;
  std::unique_ptr<client::Client> controllers_client_;
  std::unique_ptr<plane::Controllers> controllers_;
  std::unique_ptr<client::Client> user_;
  bool is_server_starting_ = false;

  std::vector<std::weak_ptr<Exchange>> in_flight_;
  std::vector<std::weak_ptr<Channel>> channels_;
  std::optional<FaultKind> pending_crash_;
  std::optional<Steady> server_restart_;
  std::optional<Steady> controllers_restart_;
  std::optional<Steady> disk_recovers_;
  Steady stale_until_{};
};

/// Started once, then cloned: a world from an image costs a fraction of one from an empty disk.
class Image {
 public:
  static Image bootstrapped();
  const store::MemoryVfs::Snapshot& snapshot() const { return snapshot_; }

 private:
  explicit Image(store::MemoryVfs::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  store::MemoryVfs::Snapshot snapshot_;
};

}  // namespace slipway::sim

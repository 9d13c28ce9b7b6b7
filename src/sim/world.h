// A whole world in one thread and in virtual time: an API server process, a controllers' process and a user's, with a disk,
// files and processes that outlive them. There may be a second cluster (kEdge) elsewhere: its API server crosses the same fault
// injector, its own controllers run beside it, untouched by faults. Faults strike where the plan says; the same seed gives the
// same run.
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
#include "sim/fault_git.h"
#include "sim/fault_programs.h"
#include "sim/machine.h"
#include "sim/server_process.h"
#include "sim/web.h"

namespace slipway::sim {

/// A disk with a started control plane on it (bootstrap objects and CRDs), to clone worlds from.
class Image;

struct WorldOptions {
  std::uint64_t seed = 1;
  FaultPlan faults;
  bool has_edge = false;     // a second cluster elsewhere, reached through a breaker
  bool is_shuffled = false;  // ready work in random order (by the seed) instead of first come, first served
  plane::Controllers::Options controllers;
  const Image* image = nullptr;  // nullptr: start from an empty disk
  Duration restart_delay = std::chrono::seconds{1};
  std::size_t history_changes = store::Options{}.history_changes;  // few: slow watchers fall out of the window
  std::size_t watch_batch = server::Options{}.watch_batch;
  /// Makes the Git of a process over real repositories in a folder of the test, for each process of the controllers and of the
  /// server anew. Its lanes must run inline: those of the Env that is given. Empty: Env::git is null.
  std::function<std::unique_ptr<Git>(Env&)> git{};
  /// The same for Env::programs.
  std::function<std::unique_ptr<Programs>(Env&)> programs{};
};

class World : private Gate {
 public:
  /// The name of the second cluster.
  static constexpr const char* kEdge = "edge";

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
  void compact() { hub_.compact(); }
  /// The second cluster is switched off, and on again.
  void take_edge_away() { edge_->go_away(random_.next()); }
  void bring_edge_back() { edge_->come_back(); }

  /// A line of the user's about what was seen on the way; part of the end that runs are compared by.
  void tell(std::string line) { diary_.push_back(std::move(line)); }
  const std::vector<std::string>& diary() const { return diary_; }
  const Births& births() const { return hub_.births(); }
  const Births& edge_births() const { return edge_->births(); }
  bool has_edge() const { return edge_ != nullptr; }

  Steady steady() const { return now_; }
  /// The user's client: waits while the server is down and tries again, so that a script can be written without faults in mind.
  client::Client& user() { return *user_; }
  /// That of the second cluster.
  client::Client& edge_user() { return *edge_user_; }
  Domain& user_domain() { return user_domain_; }
  FaultInjector& faults() { return faults_; }
  store::MemoryVfs& disk() { return hub_.disk(); }
  MemoryFiles& files() { return files_; }
  Supervisors& supervisors() { return supervisors_; }
  const Web& web() const { return web_; }

  /// The newest durable state, read past all faults; nullptr while the server is down.
  server::Server* server() { return hub_.api() ? &hub_.api()->server() : nullptr; }
  store::Store* store() { return hub_.api() ? &hub_.api()->store() : nullptr; }
  /// Null too where there is no second cluster.
  store::Store* edge_store() { return edge_ && edge_->api() ? &edge_->api()->store() : nullptr; }
  /// Runs a task of the user to its end (virtual time moves); aborts after `limit`.
  void run(Task<> task, Duration limit = std::chrono::hours{24});
  /// All objects of a resource, as the server has them now.
  std::vector<kube::Object> objects(const kube::Resource& resource) { return objects(resource, *user_); }
  std::vector<kube::Object> edge_objects(const kube::Resource& resource) { return objects(resource, *edge_user_); }

 private:
  friend class FaultClient;
  friend class FaultWatch;
  friend class PatientClient;

  /// Of which process: the one that dies is killed before the next step.
  struct Crash {
    FaultKind kind;
    ServerProcess* server;
  };

  /// The server's way to git: it dies of faults there by itself.
  class ServerGate : public Gate {
   public:
    explicit ServerGate(World& world) : world_(world) {}
    bool pass(Moment moment, std::string_view what, bool is_write) override;

   private:
    World& world_;
  };

  bool pass(Moment moment, std::string_view what, bool is_write) override;
  bool is_server_dying() const { return pending_crash_ && pending_crash_->kind != FaultKind::CrashControllers; }
  static ServerProcess::Options server_options(World& world);
  /// The controllers' process is to be killed before the next step.
  bool are_controllers_dying() const { return pending_crash_ && pending_crash_->kind != FaultKind::CrashServer; }
  void crash(Crash what);
  /// A fault at an operation that is asked of `server`.
  void strike(FaultKind kind, ServerProcess& server);
  void strike(FaultKind kind) { strike(kind, hub_); }
  void start_controllers();
  bool step(Steady limit);
  std::vector<ServerProcess*> servers();
  std::vector<kube::Object> objects(const kube::Resource& resource, client::Client& client);

  WorldOptions options_;
  SeededRandom random_;
  SeededRandom order_;
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
  Web web_;
  ServerGate server_gate_{*this};
  ServerProcess hub_;
  std::unique_ptr<ServerProcess> edge_;
  Domain controllers_domain_;
  Domain edge_controllers_domain_;
  Domain user_domain_;
  std::vector<Domain*> domains_;
  std::size_t turn_ = 0;

  std::unique_ptr<FaultGit> git_;
  std::unique_ptr<FaultPrograms> programs_;
  std::unique_ptr<client::Client> controllers_client_;
  std::unique_ptr<plane::Controllers> controllers_;
  std::unique_ptr<client::Client> user_;
  std::unique_ptr<client::Client> edge_user_;
  std::unique_ptr<client::Client> edge_client_;
  std::unique_ptr<plane::Controllers> edge_controllers_;

  std::vector<std::string> diary_;
  std::optional<Crash> pending_crash_;
  std::optional<Steady> controllers_restart_;
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

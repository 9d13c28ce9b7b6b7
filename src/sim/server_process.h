// The API server of one simulated cluster: a process with a disk of its own, that can be killed and started again. Requests and
// watches come from other processes, which are told of its death as a socket would tell them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/git.h"
#include "plane/plane.h"
#include "sim/births.h"
#include "sim/domain.h"
#include "sim/exchange.h"
#include "store/memory_vfs.h"

namespace slipway::sim {

class ServerProcess {
 public:
  struct Options {
    std::size_t history_changes = store::Options{}.history_changes;
    std::size_t watch_batch = server::Options{}.watch_batch;
    Duration restart_delay = std::chrono::seconds{1};
    std::function<std::unique_ptr<Git>(Env&)> git{};  // of each of its processes anew; empty: Env::git is null
  };
  /// Births are counted of the keys below this: namespaced built-in objects that applications make in scenarios, and what
  /// Deployments and Services there are.
  static constexpr const char* kCounted[] = {"/registry/core/configmaps/default/", "/registry/core/configmaps/stage/",
                                             "/registry/apps/deployments/default/", "/registry/core/services/default/"};

  /// `outside` without a disk: this brings its own.
  ServerProcess(const std::string& name, Domain::Outside outside, Options options);

  void start();
  /// Kills the process; what was not synced may be lost, by `dice`.
  void stop(std::uint64_t dice);
  /// Killed, and started again by tick() after the delay; not while the cluster is away.
  void crash(std::uint64_t dice, Steady now);
  /// The cluster gives no answers until it is called back.
  void go_away(std::uint64_t dice);
  void come_back();
  /// The disk is full until `end`.
  void fill_disk(Steady end);
  void cut_watches();
  /// The server forgets all history up to now. Nothing while it is down.
  void compact();

  /// Passes a request to the process, or refuses it when that is down.
  void submit(client::Request request, std::shared_ptr<Exchange> exchange);
  void open_watch(client::Request request, std::shared_ptr<Channel> channel);

  /// The next moment at which tick() has something to do.
  std::optional<Steady> next() const;
  void tick(Steady now);

  const std::string& name() const { return domain_.name(); }
  Domain& domain() { return domain_; }
  store::MemoryVfs& disk() { return disk_; }
  /// Null while the process is down.
  plane::ApiServer* api() { return api_.get(); }
  const Births& births() const { return births_; }

 private:
  Task<> pump(client::Request request, std::shared_ptr<Channel> channel);

  Options options_;
  store::MemoryVfs disk_;
  Domain domain_;
  Births births_;
  std::unique_ptr<Git> git_;
  std::unique_ptr<plane::ApiServer> api_;
  std::vector<std::unique_ptr<store::Following>> followings_;
  bool is_away_ = false;
  std::vector<std::weak_ptr<Exchange>> in_flight_;
  std::vector<std::weak_ptr<Channel>> channels_;
  std::optional<Steady> restart_;
  std::optional<Steady> disk_recovers_;
};

}  // namespace slipway::sim

// One controller at work in a runtime: its queue, its caches, its workers. Internal to control; see runtime.h.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/failure_log.h"
#include "control/queue.h"
#include "control/runtime.h"

namespace slipway::control {

/// The pool of a cluster's caches, or null when the cluster is not known.
using Caches = std::function<InformerPool*(const std::string& cluster)>;

class ControllerRun {
 public:
  /// Calls the controller's watch(). `tasks` runs its workers and must outlive this.
  ControllerRun(Env& env, Clusters& clusters, Tasks& tasks, Caches caches, std::string home,
                std::unique_ptr<Controller> controller);
  ControllerRun(const ControllerRun&) = delete;
  ControllerRun& operator=(const ControllerRun&) = delete;
  ~ControllerRun();

  void start();
  bool is_idle() const { return queue_.is_idle(); }
  void add_hindrances(std::vector<Hindrance>& to) const;

 private:
  class HomeWatches;
  /// A reconcile under way.
  struct Running {
    Steady since;
    bool has_no_worker = false;  // it waits (ControllerOptions::worker_hold)
    bool is_overdue = false;     // it has been reported
  };
  /// A time limit for every reconcile (worker_hold or reconcile_timeout). One timer serves all: it fires for the oldest
  /// reconcile that has not reached the limit.
  struct TimeLimit {
    Duration after;
    bool Running::* is_past;
    void (ControllerRun::*act)(const ObjectKey& key, const Running& running);  // once for each that has reached it
    std::unique_ptr<Timer> timer{};
  };

  /// Starts a reconcile for each queued key while a worker is free (next_key()).
  Task<> dispatch();
  /// Reconciles of one tenant that are under way.
  struct Load {
    std::size_t working = 0;  // with a worker
    std::size_t waiting = 0;  // without one (ControllerOptions::worker_hold)
  };

  /// The next key that a worker is free for.
  std::optional<ObjectKey> next_key();
  /// A reconcile waits, and holds a worker of its tenant no longer.
  void free_worker(const ObjectKey& key, const Running& running);
  Task<> wait_for_caches();
  Task<> reconcile(ObjectKey key);
  /// The controller's reconcile; what it throws becomes Outcome::failed.
  Task<Outcome> reconcile_guarded(Reconcile& run);
  /// False when a cache does not show one of the writes in time: the object is put off.
  Task<bool> wait_written(std::vector<Written> written);
  /// The cache in which a write is to be seen; null: there is none.
  std::shared_ptr<Informer> cache_of(const Written& write) const;
  bool is_seen(const Written& write) const;
  void note_written(const ObjectKey& key, std::vector<Written> written);
  void settle(const ObjectKey& key, const Outcome& outcome);
  void finished(const ObjectKey& key);
  void arm_timer(TimeLimit& limit);
  void handle_expired(TimeLimit& limit);
  void report_overdue(const ObjectKey& key, const Running& running);
  /// An event about an object whose reconciles go on failing.
  Task<> record_failure(Value object, Status cause);
  Task<> write_failure_condition(kube::ObjectKey key, std::optional<Status> cause);
  void note_success(const kube::ObjectKey& key);
  bool writes_condition() const;
  Hindrance hindrance(Hindrance::Kind kind, std::string subject, Steady since) const;

  Env& env_;
  Clusters& clusters_;
  Tasks& tasks_;
  Caches caches_;
  std::string home_;
  std::unique_ptr<Controller> controller_;
  ControllerOptions options_;
  Queue queue_;
  std::size_t busy_ = 0;                 // workers in use
  std::map<std::string, Load> load_of_;  // by tenant; none without any
  std::map<ObjectKey, Running> running_;
  TimeLimit hold_;
  TimeLimit overdue_;
  /// What the last reconcile of a key has written: to be seen before its next.
  std::map<ObjectKey, std::vector<Written>> written_;
  std::size_t most_written_ = 64;  // entries there; with as many, those that were seen are dropped
  /// Since when a key is put off because a write is not seen.
  std::map<ObjectKey, Steady> put_off_;
  std::string agent_;
  std::string name_;
  FailureLog failures_;
  Informer* primary_ = nullptr;  // of the objects that its keys name: primary(), else what is watched first
  std::deque<InformerLease> own_caches_;
  std::unique_ptr<HomeWatches> watches_;
  bool is_ready_ = false;  // its caches had their first list
  Steady started_at_{};
};

}  // namespace slipway::control

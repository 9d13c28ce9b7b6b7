// Runs controllers: one runtime per process, over all clusters that the process works on. For each cluster it keeps one pool of
// caches, for each controller a queue and its workers. A controller waits for its own caches and for no others, so a kind
// that cannot be listed, or a cluster that does not answer, stops only those who need it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/controller.h"

namespace slipway::control {

/// Something that keeps a controller from its work.
struct Hindrance {
  enum class Kind : std::uint8_t {
    CacheNotSynced,    // a cache has not had its first list: the controller has not begun
    CacheFails,        // a cache had its list, and cannot follow the changes now
    ReconcileOverdue,  // a reconcile is under way for longer than its time-out
    WriteNotSeen,      // a cache has not shown a write for so long that its object is put off
  };
  Kind kind = Kind::CacheNotSynced;
  std::string controller;
  std::string cluster;
  std::string subject;  // a resource ("jobs.batch"), or the object of a reconcile
  std::string message;  // what the server said last; empty: no answer yet
  Steady since{};

  /// "controller workflow waits for jobs.batch in cluster local: jobs.batch is forbidden: …".
  std::string to_string() const;
};

class Runtime {
 public:
  /// `clusters` must outlive the runtime.
  Runtime(Env& env, Clusters& clusters);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Before or after start(). REQUIRES: `home` is a known cluster.
  void add(const std::string& home, std::unique_ptr<Controller> controller);
  /// A share of a cache, for who is no controller. Empty when the cluster is not known.
  InformerLease lease(const std::string& cluster, const Resource& resource, Form form = Form::Whole);
  /// Starts informers and workers as children of this runtime. They run until their world is dropped.
  void start();
  /// Waits until all caches of this moment have their first list.
  Task<> wait_synced();
  /// No key is queued or being reconciled, for any controller (delayed retries do not count).
  bool is_idle() const;
  /// What keeps controllers from their work now, those first that have waited longest.
  std::vector<Hindrance> hindrances() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipway::control

// The controller runtime: a controller names what it watches and how one object is brought towards its spec; the runtime keeps
// the caches, the queue (one entry per object, never two reconciles of one object at once), back-off and read-your-writes. A
// reconcile may be run again from the top at any time; every await in it may be its last.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "client/client.h"
#include "client/informer.h"

namespace slipway::control {

using client::Client;
using client::Informer;
using json::Value;
using kube::ObjectKey;
using kube::Resource;

/// How a reconcile ended.
struct Outcome {
  enum class Kind : std::uint8_t { Settled, RetriesAfter, Failed };
  Kind kind = Kind::Settled;
  Duration after{0};
  Status error;

  /// Nothing to do until something changes.
  static Outcome settled() { return {}; }
  /// Run again after a while, whatever happens (a timer); resets the back-off.
  static Outcome retries_after(Duration after) { return {Kind::RetriesAfter, after, {}}; }
  /// Run again with exponential back-off: 5 ms · 2^n, cap 1,000 s, plus jitter.
  static Outcome failed(Status error) { return {Kind::Failed, Duration{0}, std::move(error)}; }
};

/// One run of a reconcile. Writes made through `client` are remembered: the next run of the same key waits until the caches of
/// the watched resources have them.
struct Reconcile {
  ObjectKey key;
  Client& client;
};

/// What a controller watches.
class Watches {
 public:
  /// Maps an object to the keys to reconcile.
  using Mapper = std::function<std::vector<ObjectKey>(const Value& object)>;
  /// Maps a change; `before` or `after` is null for an object that appeared or went.
  using ChangeMapper = std::function<std::vector<ObjectKey>(const Value& before, const Value& after)>;
  virtual ~Watches() = default;
  /// The shared informer of a resource; its changes queue the object itself.
  virtual Informer& primary(const Resource& resource) = 0;
  /// Its changes queue what `mapper` gives for the state before and after.
  virtual Informer& also(const Resource& resource, Mapper mapper) = 0;
  /// Its changes queue what `mapper` gives for them: for controllers to which most changes mean nothing.
  virtual Informer& changes(const Resource& resource, ChangeMapper mapper) = 0;
  /// The shared informer, without queueing anything.
  virtual Informer& cache(const Resource& resource) = 0;
  /// Queues a key, for what happens outside the API (a process that ended). Valid as long as the runtime.
  virtual std::function<void(const ObjectKey&)> enqueue() = 0;
  /// Maps to the controller owner, when it has this kind.
  static Mapper owner_of_kind(std::string kind);
};

class Controller {
 public:
  virtual ~Controller() = default;
  /// e.g. "job": in logs, metrics and as field manager ("slipway-job").
  virtual std::string name() const = 0;
  /// How many objects may be reconciled at the same time.
  virtual std::size_t workers() const { return 64; }
  virtual void watch(Watches& watches) = 0;
  virtual Task<Outcome> reconcile(Reconcile& run) = 0;
};

/// Runs controllers over one client. Informers are shared between controllers.
class Runtime {
 public:
  Runtime(Env& env, Client& client);
  ~Runtime();

  void add(std::unique_ptr<Controller> controller);
  /// The shared informer of a resource (created at first use, before start()).
  Informer& informer(const Resource& resource);
  /// Starts informers and workers as children of this runtime. They run until their world is dropped.
  void start();
  /// Waits until all informers have their first list.
  Task<> wait_synced();
  /// No key is queued or being reconciled, for any controller (delayed retries do not count).
  bool is_idle() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipway::control

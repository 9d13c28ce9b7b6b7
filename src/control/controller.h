// What a controller is: it names what it watches and how one object is brought towards its spec. The runtime (runtime.h) keeps
// the caches, the queue (one entry per object, never two reconciles of one object at once), back-off, deadlines and
// read-your-writes. A reconcile may be run again from the top at any time; every await in it may be its last.
//
// A controller has a home: the cluster that its keys live in. It may watch and write any other cluster beside it, and what it
// watches may change while it runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/tenant_http.h"
#include "client/backoff.h"
#include "client/client.h"
#include "client/informer.h"
#include "control/acting_client.h"
#include "control/clusters.h"
#include "control/informer_pool.h"
#include "control/tracking_client.h"

namespace slipway::control {

using client::Client;
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
  /// Run again with the controller's exponential back-off, plus jitter.
  static Outcome failed(Status error) { return {Kind::Failed, Duration{0}, std::move(error)}; }
};

struct ControllerOptions {
  /// How many objects may be reconciled at the same time. A tenant (queue.h) may use all of them while no other waits. One that
  /// uses less than a quarter is never kept waiting by those that use more: it gets workers beyond this number, up to twice
  /// as many in all.
  std::size_t workers = 64;
  /// A reconcile that is still under way after this waits for a server, and gives its worker to other objects.
  Duration worker_hold = std::chrono::milliseconds{250};
  /// A tenant with this many reconciles waiting without a worker gets no further worker until one ends. Those that hold a
  /// worker then may still join them.
  std::size_t max_waiting = 64;
  /// How long its caches may take before the runtime says at warn what the controller waits for (and keeps waiting).
  Duration sync_timeout = std::chrono::seconds{5};
  /// Requests of one reconcile are answered with Timeout after this; a reconcile that is still under way then is reported. Its
  /// own object waits for its end.
  Duration reconcile_timeout = std::chrono::minutes{2};
  /// Between failed reconciles of one object (client-go's default rate limiter, but for its end, 1,000 s there).
  client::Backoff backoff{std::chrono::milliseconds{5}, std::chrono::minutes{5}};
};

/// One run of a reconcile. Writes made through its clients are remembered: the next run of the same key waits until the caches
/// of the written resources have them.
class Reconcile {
  Clusters& clusters_;
  TrackingClient::Options tracking_;
  std::map<std::string, std::unique_ptr<TrackingClient>> clients_;  // by cluster
  std::vector<std::unique_ptr<ActingClient>> acting_;
  std::vector<std::unique_ptr<TenantHttp>> outgoing_;

 public:
  Reconcile(ObjectKey reconciled, const std::string& home, Clusters& clusters, TrackingClient::Options tracking);

  const ObjectKey key;
  /// The home cluster.
  Client& client;

  /// Another cluster by name. NotFound when it is not known (any more). The client lives as long as this run.
  Result<Client*> on(const std::string& cluster);
  /// The home cluster as `author` sees it: for all that is read or written because that user's object says so. A null author is
  /// the process itself. The client lives as long as this run.
  Client& as(std::shared_ptr<const kube::UserInfo> author);
  /// `http` for calls that this object asks for: they count as its tenant's (HttpCall::tenant). Null where `http` is null.
  /// Lives as long as this run.
  HttpClient* outgoing(HttpClient* http);
  std::vector<Written> take_written();
};

/// What a controller watches. The object is handed to Controller::watch() and stays valid as long as the controller: what is
/// known only later may be watched later.
class Watches {
 public:
  /// Maps an object to the keys to reconcile.
  using Mapper = std::function<std::vector<ObjectKey>(const Value& object)>;
  /// Maps a change; `before` or `after` is null for an object that appeared or went.
  using ChangeMapper = std::function<std::vector<ObjectKey>(const Value& before, const Value& after)>;
  virtual ~Watches() = default;

  // On the home cluster, for as long as the controller runs. Those asked for in Controller::watch() are complete before the
  // first reconcile.

  /// The shared informer of a resource; its changes queue the object itself.
  virtual Informer& primary(const Resource& resource) = 0;
  /// Its changes queue what `mapper` gives for the state before and after.
  virtual Informer& also(const Resource& resource, Mapper mapper) = 0;
  /// Its changes queue what `mapper` gives for them: for controllers to which most changes mean nothing.
  /// With Form::Metadata it is shown as little as that, unless a cache of whole objects is there anyway.
  virtual Informer& changes(const Resource& resource, ChangeMapper mapper, Form form = Form::Whole) = 0;
  /// The shared informer, without queueing anything.
  virtual Informer& cache(const Resource& resource) = 0;

  /// For as long as the lease is held: on any cluster, of any kind, at any time. Empty when the cluster is not known. Nothing
  /// waits for it: look at is_synced(). Handlers that Controller::watch() adds through a lease on the home cluster are told of
  /// a change before the controller's mappers are: what a reconcile needs to know of it can be kept in them.
  virtual InformerLease lease(const std::string& cluster, const Resource& resource, Form form) = 0;
  /// The name of the home cluster.
  virtual const std::string& home() const = 0;
  virtual Clusters& clusters() = 0;
  /// Queues a key, for what happens outside the API (a process that ended). Valid as long as the runtime.
  virtual std::function<void(const ObjectKey&)> enqueue() = 0;

  /// Maps to the controller owner, when it is of this group and kind.
  static Mapper owner_of_kind(std::string group, std::string kind);
};

class Controller {
 public:
  virtual ~Controller() = default;
  /// e.g. "job": in logs, metrics and as field manager ("slipway-job").
  virtual std::string name() const = 0;
  virtual ControllerOptions options() const { return {}; }
  virtual void watch(Watches& watches) = 0;
  /// An exception fails this object only: it is logged and tried again as after Outcome::failed.
  virtual Task<Outcome> reconcile(Reconcile& run) = 0;
};

}  // namespace slipway::control

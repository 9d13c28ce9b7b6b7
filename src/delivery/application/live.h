// The live objects of all applications, over all clusters: read from caches that follow the kinds applications have made, or
// asked for while a cache has no first list yet. A change of an object calls the application that its labels name. A cluster
// that does not answer gives an error, never "gone".
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "control/controller.h"
#include "delivery/application/tracker.h"
#include "delivery/family/kind_mapper.h"

namespace slipway::delivery::application {

class LiveObjects {
 public:
  /// `watches` outlives this. `woken` hears of each application whose objects change, before it is queued.
  void watch(control::Watches& watches, std::function<void(const kube::ObjectKey& application)> woken);

  /// The name in Watches of a cluster as applications call it ("" and kHub are the home).
  std::string known_as(const std::string& cluster) const;
  /// Follows the kind in the cluster from now on.
  void follow(const std::string& cluster, const kube::Resource& resource);
  /// The object, or null when it is not there. Errors: those of asking.
  Task<Result<Value>> find(client::Client& client, std::string cluster, MappedKind kind, std::string ns, std::string name);
  KindMapper& kinds() { return kinds_; }
  control::Clusters& clusters() const { return watches_->clusters(); }
  bool is_reachable(const std::string& cluster) const { return clusters().reach(known_as(cluster)).is_reachable; }

 private:
  void cluster_changed(const std::string& cluster);
  /// Calls the application that the object's labels name.
  void wake(const Value& object);

  control::Watches* watches_ = nullptr;
  std::function<void(const kube::ObjectKey&)> enqueue_, woken_;
  KindMapper kinds_;
  std::map<std::pair<std::string, kube::Resource>, control::InformerLease> leases_;
  control::Clusters::Subscription subscription_;
};

}  // namespace slipway::delivery::application

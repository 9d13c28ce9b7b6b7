// Which objects the waiting runs look at: a change of one wakes the runs that watch it, whatever the object's labels say. The
// kinds are followed, by cluster, as long as an object of them is watched.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/controller.h"
#include "delivery/application/kind.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/workflow/run_status.h"

namespace slipway::delivery::application {

class WatchedObjects {
 public:
  /// `watches` outlives this.
  void watch(control::Watches& watches);

  /// From now on `run` watches these objects and no others. Those of unknown clusters and kinds are left out.
  Task<> replace(control::Reconcile& run, std::vector<workflow::ResourceRef> objects);
  void forget(const kube::ObjectKey& run);
  /// Whether an object that the run watches has changed since it was last asked.
  bool take_change(const kube::ObjectKey& run) { return changed_.erase(run) > 0; }

 private:
  using Place = std::pair<std::string, kube::Resource>;  // cluster, kind
  using Object = std::pair<Place, kube::ObjectKey>;
  struct Followed {
    control::InformerLease lease;
    std::map<kube::ObjectKey, std::set<kube::ObjectKey>> runs;  // by object
  };

  std::string known_as(const std::string& cluster) const;
  void add(const kube::ObjectKey& run, const Object& object);
  void remove(const kube::ObjectKey& run, const Object& object);
  void on_change(const Place& place, const kube::ObjectKey& object);

  control::Watches* watches_ = nullptr;
  std::function<void(const kube::ObjectKey&)> enqueue_;
  KindMapper kinds_;
  std::map<Place, Followed> followed_;
  std::map<kube::ObjectKey, std::set<Object>> objects_;  // by run
  std::set<kube::ObjectKey> changed_;
};

}  // namespace slipway::delivery::application

// Which objects a cluster has ever had: each creation below a prefix counts once, by uid, however often the server is started
// again. Tells an effect that was doubled from one that was not, though the second object may be gone by the end.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kube/object.h"
#include "store/projection.h"

namespace slipway::sim {

class Births : public store::Projection {
 public:
  void apply(const store::Change& change) override {
    if (change.value) uids_[change.key].emplace(kube::uid(*change.value));
  }
  /// By key of the store: how many objects there were of it.
  std::map<std::string, std::size_t> counts() const {
    std::map<std::string, std::size_t> all;
    for (const auto& [key, uids] : uids_) all[key] = uids.size();
    return all;
  }

 private:
  std::map<std::string, std::set<std::string, std::less<>>> uids_;
};

}  // namespace slipway::sim

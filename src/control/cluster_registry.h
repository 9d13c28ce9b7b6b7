// Where controllers put clusters that objects of a hub describe, so that all find them by name in Clusters. Room fleet
// implements it. A name is put by one controller only; replacing one keeps caches of others untouched.
#pragma once

#include <map>
#include <string>

#include "base/status.h"

namespace slipway::control {

class ClusterRegistry {
 public:
  virtual ~ClusterRegistry() = default;
  /// A cluster elsewhere, as a kubeconfig's current context names it; replaces one of that name. The kubeconfig may not name
  /// files or programs of this machine. Errors: BadRequest for one that cannot be used, with the reason; NotImplemented where
  /// this process reaches no clusters elsewhere. After an error the cluster stays as it was.
  virtual Result<void> connect(const std::string& name, const std::string& kubeconfig) = 0;
  /// A cluster that is known and cannot be used: every request is refused with `problem`, which its reach tells.
  virtual void add_unusable(const std::string& name, Status problem) = 0;
  /// What selectors of clusters look at. Nothing happens when there is no such cluster.
  virtual void set_labels(const std::string& name, std::map<std::string, std::string> labels) = 0;
  /// Requests that are under way end by themselves.
  virtual void remove(const std::string& name) = 0;
};

}  // namespace slipway::control

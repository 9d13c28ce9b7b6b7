// Keeps a Fleet in step with the cluster Secrets of one hub (cluster_secret.h): a Secret that comes, changes or goes adds,
// replaces or removes its cluster; one that cannot be used makes a cluster whose reach says why. Clusters that others added are
// left alone, as is the hub's own name. Only the namespace of these Secrets is read. A hub that does not answer changes
// nothing.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "client/informer.h"
#include "fleet/cluster_secret.h"
#include "fleet/fleet.h"

namespace slipway::fleet {

class ClusterSecrets {
 public:
  /// `fleet` outlives this. Begins at start().
  ClusterSecrets(Env& env, Fleet& fleet, std::shared_ptr<client::Client> hub);
  ClusterSecrets(const ClusterSecrets&) = delete;
  ClusterSecrets& operator=(const ClusterSecrets&) = delete;
  ~ClusterSecrets();

  /// Once. Runs until its world is dropped.
  void start() { tasks_.spawn(informer_.run()); }
  Task<> wait_synced() { return informer_.wait_synced(); }

 private:
  void changed(const kube::Object& before, const kube::Object& after);
  void put(const ClusterSecret& secret);
  void remove(const std::string& name);

  Env& env_;
  Fleet& fleet_;
  std::unique_ptr<client::Client> hub_;  // within the namespace
  client::Informer informer_;
  std::map<std::string, std::string> added_;  // digests of how they are reached, by name
  Tasks tasks_;
};

}  // namespace slipway::fleet

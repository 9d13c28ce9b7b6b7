// Keeps a Fleet in step with the cluster Secrets of one hub (cluster_secret.h): a Secret that comes, changes or goes adds,
// replaces or removes its cluster; one that cannot be used makes a cluster whose reach says why. Clusters that others added are
// left alone, as is the hub's own name; the Secret of one of this process (type Internal) gives its labels. Only the namespace
// of these Secrets is read. A hub that does not answer changes nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/informer.h"
#include "fleet/cluster_secret.h"
#include "fleet/fleet.h"

namespace slipway::fleet {

/// Makes the namespace of cluster Secrets, unless it is there.
Task<Result<void>> make_cluster_namespace(client::Client& hub);

/// Makes the Secrets of type Internal that are not there yet, and their namespace.
Task<Result<void>> tell_internal_clusters(client::Client& hub, std::vector<std::string> names);

class ClusterSecrets {
 public:
  /// `fleet` outlives this. Begins at start(). `names_own`: Secrets of this hub give the clusters of this process their labels.
  ClusterSecrets(Env& env, Fleet& fleet, std::shared_ptr<client::Client> hub, bool names_own = true);
  ClusterSecrets(const ClusterSecrets&) = delete;
  ClusterSecrets& operator=(const ClusterSecrets&) = delete;
  ~ClusterSecrets();

  /// Once. Runs until its world is dropped.
  void start() { tasks_.spawn(informer_.run()); }
  Task<> wait_synced() { return informer_.wait_synced(); }

 private:
  void changed(const kube::Object& before, const kube::Object& after);
  void label_own(const std::string& name);
  void label_own(const std::string& name, const std::optional<ClusterSecret>& secret);
  void put(const ClusterSecret& secret);
  void remove(const std::string& name);

  Env& env_;
  Fleet& fleet_;
  const bool names_own_;
  std::unique_ptr<client::Client> hub_;  // within the namespace
  client::Informer informer_;
  std::map<std::string, std::string> added_;  // digests of how they are reached, by name
  Tasks tasks_;
  Fleet::Subscription came_;
};

}  // namespace slipway::fleet

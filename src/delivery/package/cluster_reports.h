// Follows what all clusters report of repositories (cluster_sync.h): in each cluster those of the kinds that it serves, from
// the moment when it does. Answers at once with what is known; a cluster that cannot be reached keeps what it had reported.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "control/controller.h"
#include "delivery/package/cluster_sync.h"

namespace slipway::delivery::package {

class ClusterReports {
 public:
  ClusterReports() = default;
  ClusterReports(const ClusterReports&) = delete;
  ClusterReports& operator=(const ClusterReports&) = delete;

  /// Once. `changed` is told on the logic thread of each change of what is reported about a repository.
  void attach(control::Watches& watches, std::function<void()> changed);
  /// Of the repository at that address.
  std::vector<SyncReport> of(std::string_view url) const;

 private:
  using Id = std::tuple<std::string, kube::Resource, kube::ObjectKey>;
  struct Cluster {
    control::InformerLease definitions{};
    std::map<kube::Resource, control::InformerLease> feeds{};
  };

  void follow(const std::string& name);
  void drop(const std::string& name);
  void served(const std::string& name, const std::string& definition);
  void put(const std::string& name, const SyncRow& row, const kube::ObjectKey& key, const kube::Object& object);
  void put_all(const std::string& name, const SyncRow& row);
  kube::Object find(const std::string& name, const kube::Resource& resource, const kube::ObjectKey& key) const;

  control::Watches* watches_ = nullptr;
  std::function<void()> changed_;
  control::Clusters::Subscription subscription_;
  std::map<std::string, Cluster> clusters_;
  std::map<Id, std::vector<SyncReport>> reports_;
  std::map<std::string, std::set<Id>> by_url_;
};

}  // namespace slipway::delivery::package

// Where clusters come from: those that this process serves itself, and those that a kubeconfig names (or a Secret,
// cluster_secrets.h). Implements control's Clusters. Clusters elsewhere are asked through a breaker each (breaker.h), so that a
// dead one holds no other up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "control/cluster_registry.h"
#include "control/clusters.h"
#include "fleet/breaker.h"

namespace slipway::fleet {

/// A cluster elsewhere, as a kubeconfig names it.
struct RemoteCluster {
  std::string kubeconfig;  // the text of the file
  std::string context{};   // empty: its current-context
};

/// Makes the client of a cluster elsewhere. Handed in by cli, since the HTTP client is above this room. Errors: BadRequest for
/// a kubeconfig that cannot be used, with the reason.
using RemoteFactory = std::function<Result<std::shared_ptr<client::Client>>(const RemoteCluster& cluster)>;

class Fleet : public control::Clusters, public control::ClusterRegistry {
 public:
  /// Without `remote` clusters elsewhere are refused with NotImplemented.
  explicit Fleet(Env& env, RemoteFactory remote = nullptr) : env_(env), remote_(std::move(remote)) {}
  ~Fleet() override;

  /// A cluster of this process; `client` must outlive the fleet. Replaces one of that name.
  void add(const std::string& name, client::Client& client);
  /// A cluster behind a client that exists already. Replaces one of that name.
  void add_remote(const std::string& name, std::shared_ptr<client::Client> client);
  /// Replaces one of that name, unless the kubeconfig cannot be used.
  Result<void> add_remote(const std::string& name, const RemoteCluster& cluster);
  Result<void> connect(const std::string& name, const std::string& kubeconfig) override;
  /// A cluster that is known and cannot be used: every request is refused with `problem`, which its reach tells. Replaces one
  /// of that name.
  void add_unusable(const std::string& name, Status problem) override;
  /// Nothing happens when there is no such cluster.
  void set_labels(const std::string& name, std::map<std::string, std::string> labels) override;
  /// Requests that are under way end by themselves.
  void remove(const std::string& name) override;

  std::vector<std::string> names() const override;
  std::shared_ptr<client::Client> find(const std::string& cluster) const override;
  bool is_in_process(const std::string& cluster) const override;
  control::Reach reach(const std::string& cluster) const override;
  std::map<std::string, std::string> labels(const std::string& cluster) const override;
  Subscription subscribe(Listener listener) override;

 private:
  struct Member {
    std::shared_ptr<client::Client> client;
    std::shared_ptr<BreakerClient> breaker;  // null: in this process, or not usable
    std::optional<Status> problem{};         // not usable
    std::map<std::string, std::string> labels{};
  };
  /// Outlives the fleet as long as a subscription does.
  struct Listeners {
    std::map<std::uint64_t, Listener> all;
    std::uint64_t next = 0;
  };

  void put(const std::string& name, Member member);
  void tell(const std::string& name);

  Env& env_;
  RemoteFactory remote_;
  std::map<std::string, Member> members_;
  std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
};

}  // namespace slipway::fleet

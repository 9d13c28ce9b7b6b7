// The clusters that controllers work on, by name. Who knows them (this process, kubeconfigs, cluster secrets) is room fleet's
// business; controllers ask here for a Client each time they need one, since clusters come, go and fall out of reach at run
// time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "client/client.h"

namespace slipway::control {

/// Whether a cluster answers. Unreachable is never "gone": what was seen there counts as unknown until it answers again.
struct Reach {
  bool is_reachable = true;
  /// Why not, in the words of the last failed request; the time it began on the steady clock.
  Status problem{};
  Steady since{};
};

class Clusters {
 public:
  using Listener = std::function<void(const std::string& cluster)>;
  /// Ends its listening when destroyed.
  using Subscription = std::shared_ptr<void>;

  virtual ~Clusters() = default;
  /// Sorted.
  virtual std::vector<std::string> names() const = 0;
  /// Null when there is no such cluster (any more). While a cluster is out of reach its client answers ServiceUnavailable at
  /// once, but for a request now and then that finds out whether it has come back.
  virtual std::shared_ptr<client::Client> find(const std::string& cluster) const = 0;
  /// Its objects share their values with the server's, so that caches of them cost next to nothing.
  virtual bool is_in_process(const std::string& cluster) const = 0;
  virtual Reach reach(const std::string& cluster) const = 0;
  /// What selectors of clusters look at. Empty for a cluster that is not known.
  virtual std::map<std::string, std::string> labels(const std::string&) const { return {}; }
  /// Calls `listener` after a cluster came, went, was replaced, or its reach or labels changed, on the logic thread.
  virtual Subscription subscribe(Listener listener) = 0;
};

/// One cluster that is always there: for tests, benchmarks and commands with a single client.
class OneCluster : public Clusters {
 public:
  /// `client` must outlive this.
  OneCluster(std::string name, client::Client& client) : name_(std::move(name)), client_(std::shared_ptr<void>(), &client) {}

  std::vector<std::string> names() const override { return {name_}; }
  std::shared_ptr<client::Client> find(const std::string& cluster) const override {
    return cluster == name_ ? client_ : nullptr;
  }
  bool is_in_process(const std::string&) const override { return true; }
  Reach reach(const std::string&) const override { return {}; }
  Subscription subscribe(Listener) override { return {}; }

 private:
  std::string name_;
  std::shared_ptr<client::Client> client_;
};

}  // namespace slipway::control

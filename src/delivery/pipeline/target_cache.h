// What is known of targets at any moment, from caches over all clusters: an object, what it made, its sources, or why that
// cannot be told. All pipelines share the caches of a cluster (feed.h); a kind is followed there while some target needs it, in
// the version that the cluster prefers, and namespace by namespace where lists of the whole cluster are refused. Nothing here
// waits for a cluster: look() answers at once with what is there, and a follower is woken when there is more to see. So a dead
// cluster holds no other up, and keeps what was seen.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/pipeline/feed.h"
#include "delivery/pipeline/follower_table.h"
#include "delivery/pipeline/kind_row.h"
#include "delivery/pipeline/spec.h"

namespace slipway::delivery::pipeline {

/// A follower of one place of one cluster. It stays where it is in memory.
struct Follower {
  Follower() = default;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// REQUIRES: added to a TargetCache. Valid until it is removed.
  const std::string& cluster() const { return *cluster_; }

  bool is_dirty = true;  // there may be something new to see; the owner clears it

 private:
  friend class TargetCache;
  std::uint32_t interest_count_ = 0;
  std::uint32_t number_ = 0;              // in the cache
  std::uint32_t slot_ = 0;                // in its cluster's list
  std::uint64_t kinds_ = 0;               // bits of TargetCache::kinds_
  const std::string* cluster_ = nullptr;  // the key in TargetCache::known_
  std::unique_ptr<Interest[]> interests_{};
};

/// What a look at a target gave.
struct Sight {
  enum class Kind : std::uint8_t {
    Seen,       // the object is there
    Pending,    // not looked at yet
    Absent,     // there is no such object
    NoSpace,    // nor its namespace
    NotServed,  // nor its kind
    NoAccess,   // may not be listed
    Stale,      // what is kept is too old to count
    Failing,    // it cannot be looked at
    Unknown,    // of a kind that nothing is known of
  };
  Kind kind = Kind::Pending;
  std::string text{};  // why, but for Seen and Pending
  Look look{};
  std::string api_version{};  // that it was found in
};

class TargetCache {
 public:
  /// `woken` is told on the logic thread of each follower that became dirty.
  TargetCache(Env& env, std::function<void(Follower&)> woken);
  TargetCache(const TargetCache&) = delete;
  TargetCache& operator=(const TargetCache&) = delete;
  ~TargetCache();

  /// `clusters` outlives this. `application` is told of every change of an object of a kind that targets are of.
  using ApplicationChange =
      std::function<void(const std::string& cluster, const kube::Object& before, const kube::Object& after)>;
  /// `forgotten` is told when a cluster is not watched any more, or anew.
  void start(control::Clusters& clusters, ApplicationChange application,
             std::function<void(const std::string&)> forgotten = {});

  void add(Follower& follower, const std::string& cluster);
  void remove(Follower& follower);
  /// All that follow the cluster become dirty.
  void wake_all(const std::string& cluster);
  /// Looks, and lets the follower be woken by changes of what was looked at, and by nothing else. REQUIRES: added.
  Sight look(Follower& follower, const std::string& ns, const AppRef& app);
  /// All triggers of the cluster (trigger_kinds) that are known now; from here on the follower is woken by changes of them.
  std::vector<kube::Object> triggers(Follower& follower);
  /// All Helm releases of the cluster that are known now; from here on the follower is woken by changes of them. Nullopt while
  /// they cannot be known.
  std::optional<std::vector<kube::Object>> releases(Follower& follower);
  /// The resource under which the kind is followed in the cluster; nullopt while it is not.
  std::optional<kube::Resource> resource_of(const std::string& cluster, const KindName& kind) const;
  /// Lists wait for others to end: this process is what holds up the first look, not a cluster.
  bool is_listing() const { return turns_->has_waiting(); }
  /// Informers that run now, for tests and measurements.
  std::size_t feeds() const;

 private:
  /// Of reduced objects of all clusters: enough for what is looked at again within a moment.
  static constexpr std::size_t kTreeBytes = std::size_t{2} << 20U;

  struct KindFeeds {
    std::size_t followers = 0;
    kube::Resource resource{};
    std::unique_ptr<Feed> wide{};
    std::map<std::string, std::unique_ptr<Feed>> by_namespace{};
  };
  enum class Served : std::uint8_t { Asked, Yes, No };
  struct Answer {
    Served served = Served::Asked;
    kube::Resource resource{};
  };
  struct Cluster {
    std::shared_ptr<client::Client> client{};
    std::vector<Follower*> followers{};
    std::map<KindName, KindFeeds> kinds{};
    std::unique_ptr<Feed> definitions{};  // metadata of CustomResourceDefinitions
    std::unique_ptr<Feed> namespaces{};
    std::map<KindName, Answer> served{};
    std::vector<KindName> to_ask{};
    bool is_asking = false;
  };
  /// A cache to read from, or why there is none.
  struct View {
    Feed::Stage stage = Feed::Stage::Pending;
    client::Informer* informer = nullptr;
    std::string text{};
  };
  struct Looking;  // one call of look()

  Cluster& cluster_of(const std::string& name);
  void drop_feeds(const std::string& name, Cluster& cluster);
  void cluster_changed(const std::string& name);
  void definitions_changed(const std::string& cluster, const kube::Object& before, const kube::Object& after);
  Answer served(const std::string& name, Cluster& cluster, const KindName& kind, std::string_view api_version);
  void ask(const std::string& name, Cluster& cluster, const KindName& kind);
  Task<> learn(std::string name);
  View view(const std::string& name, Cluster& cluster, const KindName& kind, const kube::Resource& resource,
            const std::string& ns);
  View pods(const std::string& name, Cluster& cluster, const std::string& ns);
  std::unique_ptr<Feed> open(const std::string& name, Cluster& cluster, const KindName& kind, Feed::Options options);
  bool is_namespace_missing(const std::string& name, Cluster& cluster, const std::string& ns);
  void object_changed(const std::string& cluster, const KindName& kind, const kube::Object& object);
  std::uint64_t bit_of(const KindName& kind);
  void set_interests(Follower& follower, std::vector<Interest> interests, std::uint64_t kinds);
  void count_kinds(Cluster& cluster, std::uint64_t kinds, int by);
  void wake(Interest interest);
  void wake(Follower& follower);
  void wake_ready(const std::string& cluster);
  std::uint64_t pending_kinds(const Cluster& cluster) const;

  Env& env_;
  std::function<void(Follower&)> woken_;
  ApplicationChange application_{};
  std::function<void(const std::string&)> forgotten_{};
  control::Clusters* clusters_ = nullptr;
  control::Clusters::Subscription subscription_{};
  KindMapper mapper_{};
  std::shared_ptr<client::ObjectPacks> packs_ = std::make_shared<client::ObjectPacks>(kTreeBytes);
  std::shared_ptr<ListTurns> turns_;
  std::map<std::string, Cluster> known_{};
  std::vector<KindName> kinds_{};  // by bit
  std::set<KindName> application_kinds_{};
  std::vector<Follower*> followers_{};  // by number; null: free
  std::vector<std::uint32_t> free_{};   // numbers
  FollowerTable by_interest_{};
  Tasks tasks_;
};

}  // namespace slipway::delivery::pipeline

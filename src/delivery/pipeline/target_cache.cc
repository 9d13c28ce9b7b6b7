#include "delivery/pipeline/target_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <span>

#include "base/check.h"
#include "base/text.h"
#include "delivery/pipeline/interest.h"
#include "kube/builtin.h"
#include "kube/well_known.h"

namespace slipway::delivery::pipeline {
namespace {

using kube::Object;

/// With more, or with more who look at the cluster, pods are followed in the whole cluster: each watch is a connection.
constexpr std::size_t kMostPodNamespaces = 32;
constexpr std::size_t kMostPodFollowers = 64;
constexpr std::size_t kMostKinds = 64;
constexpr Duration kAskAgain = std::chrono::seconds{10};
const KindName kPodKind{"", "Pod"};

/// "helmreleases.helm.toolkit.fluxcd.io" → "helm.toolkit.fluxcd.io".
std::string_view group_of_definition(std::string_view name) {
  const auto dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

kube::Resource assumed(const KindName& kind, std::string_view api_version) {
  const KnownKind* known = find_known_kind(kind.group, kind.kind);
  const auto slash = api_version.find('/');
  const std::string pinned(slash == std::string_view::npos ? api_version : api_version.substr(slash + 1));
  if (known != nullptr) return known->resource();
  return {kind.group, pinned.empty() ? "v1" : pinned, lower(kind.kind) + "s"};
}

kube::Resource built_in(const KindName& kind) {
  for (const kube::ResourceType& type : kube::builtin_types()) {
    if (type.kind.group == kind.group && type.kind.kind == kind.kind && !type.resource.plural.contains('/'))
      return type.resource;
  }
  return {};
}

}  // namespace

TargetCache::TargetCache(Env& env, std::function<void(Follower&)> woken)
    : env_(env), woken_(std::move(woken)), turns_(std::make_shared<ListTurns>(env)), tasks_(env) {}
TargetCache::~TargetCache() = default;

void TargetCache::start(control::Clusters& clusters, ApplicationChange application,
                        std::function<void(const std::string&)> forgotten) {
  clusters_ = &clusters;
  application_ = std::move(application);
  forgotten_ = std::move(forgotten);
  subscription_ = clusters.subscribe([this](const std::string& cluster) { cluster_changed(cluster); });
}

void TargetCache::add(Follower& follower, const std::string& name) {
  const auto cluster = known_.try_emplace(name).first;
  follower.cluster_ = &cluster->first;
  follower.slot_ = static_cast<std::uint32_t>(cluster->second.followers.size());
  cluster->second.followers.push_back(&follower);
  if (free_.empty()) {
    follower.number_ = static_cast<std::uint32_t>(followers_.size());
    followers_.push_back(&follower);
  } else {
    follower.number_ = free_.back();
    free_.pop_back();
    followers_[follower.number_] = &follower;
  }
}

void TargetCache::remove(Follower& follower) {
  set_interests(follower, {}, 0);
  followers_[follower.number_] = nullptr;
  free_.push_back(follower.number_);
  const auto found = known_.find(follower.cluster());
  auto& all = found->second.followers;
  all[follower.slot_] = all.back();
  all[follower.slot_]->slot_ = follower.slot_;
  all.pop_back();
  if (!all.empty()) return;
  const std::string name = found->first;
  mapper_.forget(name);
  known_.erase(found);
  if (forgotten_) forgotten_(name);
}

TargetCache::Cluster& TargetCache::cluster_of(const std::string& name) {
  Cluster& cluster = known_[name];
  if (const auto client = clusters_->find(name); client != cluster.client) {
    drop_feeds(name, cluster);
    cluster.client = client;
  }
  return cluster;
}

void TargetCache::drop_feeds(const std::string& name, Cluster& cluster) {
  for (auto& [kind, feeds] : cluster.kinds) {
    feeds.wide.reset();
    feeds.by_namespace.clear();
  }
  cluster.definitions.reset();
  cluster.namespaces.reset();
  cluster.served.clear();
  cluster.to_ask.clear();
  if (forgotten_) forgotten_(name);
}

/// It came, went, is another now, or its reach has changed.
void TargetCache::cluster_changed(const std::string& name) {
  const auto found = known_.find(name);
  if (found == known_.end()) return;
  if (clusters_->find(name) != found->second.client) {
    drop_feeds(name, found->second);
    found->second.client = nullptr;
    mapper_.forget(name);
  }
  wake_all(name);
}

std::unique_ptr<Feed> TargetCache::open(const std::string& name, Cluster& cluster, const KindName& kind,
                                        Feed::Options options) {
  if (clusters_->is_in_process(name)) options.keeps = Feed::Keeps::Whole;
  options.packs = packs_;
  options.turns = turns_;
  auto feed = std::make_unique<Feed>(env_, tasks_, cluster.client, std::move(options),
                                     Feed::Listener{.changed =
                                                        [this, name, kind](const Object& before, const Object& after) {
                                                          if (!before.is_null()) object_changed(name, kind, before);
                                                          if (!after.is_null()) object_changed(name, kind, after);
                                                          if (application_ && application_kinds_.contains(kind))
                                                            application_(name, before, after);
                                                        },
                                                    .moved = [this, name] { wake_ready(name); }});
  if (kind == kPodKind) {
    feed->informer().add_index("namespace", [](const Object& pod) { return std::vector{std::string(kube::ns(pod))}; });
  } else {
    feed->informer().add_index("maker", maker_keys);
  }
  return feed;
}

TargetCache::View TargetCache::view(const std::string& name, Cluster& cluster, const KindName& kind,
                                    const kube::Resource& resource, const std::string& ns) {
  KindFeeds& feeds = cluster.kinds[kind];
  if (feeds.resource != resource) {
    feeds.wide.reset();
    feeds.by_namespace.clear();
    feeds.resource = resource;
  }
  if (feeds.wide == nullptr) feeds.wide = open(name, cluster, kind, {.resource = resource});
  if (feeds.wide->stage() != Feed::Stage::Refused) {
    feeds.by_namespace.clear();
    return {feeds.wide->stage(), &feeds.wide->informer(), feeds.wide->problem()};
  }
  auto& narrow = feeds.by_namespace[ns];
  if (narrow == nullptr) narrow = open(name, cluster, kind, {.resource = resource, .ns = ns});
  return {narrow->stage(), &narrow->informer(), narrow->problem()};
}

TargetCache::View TargetCache::pods(const std::string& name, Cluster& cluster, const std::string& ns) {
  KindFeeds& feeds = cluster.kinds[kPodKind];
  feeds.resource = kube::kPods;
  const bool is_crowded = cluster.followers.size() > kMostPodFollowers || feeds.by_namespace.size() >= kMostPodNamespaces;
  if (feeds.wide == nullptr && is_crowded && !feeds.by_namespace.contains(ns)) {
    feeds.wide = open(name, cluster, kPodKind, {.resource = kube::kPods});
    feeds.by_namespace.clear();
  }
  auto& feed = feeds.wide != nullptr ? feeds.wide : feeds.by_namespace[ns];
  if (feed == nullptr) feed = open(name, cluster, kPodKind, {.resource = kube::kPods, .ns = ns});
  return {feed->stage(), &feed->informer(), feed->problem()};
}

/// False while that is not known.
bool TargetCache::is_namespace_missing(const std::string& name, Cluster& cluster, const std::string& ns) {
  if (cluster.namespaces == nullptr) {
    cluster.namespaces =
        open(name, cluster, {"", "Namespace"}, {.resource = kube::kNamespaces, .form = client::Form::Metadata});
  }
  return cluster.namespaces->stage() == Feed::Stage::Followed && !cluster.namespaces->informer().contains({"", ns});
}

TargetCache::Answer TargetCache::served(const std::string& name, Cluster& cluster, const KindName& kind,
                                        std::string_view api_version) {
  if (is_built_in(kind.group)) {
    const kube::Resource resource = built_in(kind);
    return {resource.plural.empty() ? Served::No : Served::Yes, resource};
  }
  if (const auto found = cluster.served.find(kind); found != cluster.served.end()) return found->second;
  if (cluster.definitions == nullptr) {
    cluster.definitions = std::make_unique<Feed>(
        env_, tasks_, cluster.client,
        Feed::Options{.resource = kube::kDefinitions, .form = client::Form::Metadata, .packs = packs_, .turns = turns_},
        Feed::Listener{
            .changed = [this, name](const Object& before, const Object& after) { definitions_changed(name, before, after); },
            .moved = [this, name] { wake_all(name); }});
  }
  const Feed::Stage stage = cluster.definitions->stage();
  if (stage == Feed::Stage::Pending) return {};
  if (stage != Feed::Stage::Followed && stage != Feed::Stage::Stale) return {Served::Yes, assumed(kind, api_version)};
  const KnownKind* known = find_known_kind(kind.group, kind.kind);
  const client::Informer& definitions = cluster.definitions->informer();
  const bool is_defined = known != nullptr ? definitions.contains({"", fmt::format("{}.{}", known->plural, known->group)})
                                           : std::ranges::any_of(definitions.keys(), [&](const kube::ObjectKey& one) {
                                               return group_of_definition(one.name) == kind.group;
                                             });
  if (!is_defined) return cluster.served[kind] = {Served::No, {}};
  ask(name, cluster, kind);
  return cluster.served[kind];
}

void TargetCache::ask(const std::string& name, Cluster& cluster, const KindName& kind) {
  cluster.served[kind] = {};
  cluster.to_ask.push_back(kind);
  if (!std::exchange(cluster.is_asking, true)) tasks_.spawn(learn(name));
}

/// One question at a time: the first answer has the others in it.
Task<> TargetCache::learn(std::string name) {
  for (;;) {
    const auto found = known_.find(name);
    if (found == known_.end()) co_return;
    if (found->second.to_ask.empty() || found->second.client == nullptr) {
      found->second.is_asking = false;
      co_return;
    }
    const KindName kind = found->second.to_ask.back();
    const std::shared_ptr<client::Client> client = found->second.client;
    const auto mapped = co_await mapper_.find_named(*client, name, kind.group, kind.kind);
    const auto now = known_.find(name);
    if (now == known_.end()) co_return;
    std::erase(now->second.to_ask, kind);
    if (now->second.client != client || !now->second.served.contains(kind)) continue;
    const bool is_refused = !mapped && mapped.error().reason == Reason::Forbidden;
    if (mapped) {
      now->second.served[kind] = {Served::Yes, mapped->resource};
    } else if (is_refused) {
      now->second.served[kind] = {Served::Yes, assumed(kind, "")};
    } else if (mapped.error().reason == Reason::NotFound) {
      now->second.served[kind] = {Served::No, {}};
    } else {
      // After the others: a group whose server is gone holds none of them up.
      now->second.to_ask.insert(now->second.to_ask.begin(), kind);
      co_await sleep_for(env_, kAskAgain);
      continue;
    }
    wake_all(name);
  }
}

/// What the group's kinds are served in may have changed.
void TargetCache::definitions_changed(const std::string& name, const Object& before, const Object& after) {
  const bool is_news = before.is_null() || after.is_null() || kube::generation(before) != kube::generation(after);
  const auto found = known_.find(name);
  if (!is_news || found == known_.end()) return;
  const std::string_view group = group_of_definition(kube::name(after.is_null() ? before : after));
  const std::size_t forgotten = std::erase_if(found->second.served, [&](const auto& one) { return one.first.group == group; });
  if (forgotten == 0) return;
  mapper_.forget(name);
  wake_all(name);
}

void TargetCache::object_changed(const std::string& cluster, const KindName& kind, const Object& object) {
  if (kind == kPodKind) return wake(interest_in_pods(cluster, kube::ns(object)));
  wake(interest_in(cluster, kind, kube::ns(object), kube::name(object)));
  for (const std::string& key : maker_keys(object)) wake(interest_in_made(cluster, key));
  if (std::ranges::find(trigger_kinds(), kind) != trigger_kinds().end()) wake(interest_in_triggers(cluster));
  if (kind == release_kind()) wake(interest_in_releases(cluster));
}

std::uint64_t TargetCache::bit_of(const KindName& kind) {
  const auto found = std::ranges::find(kinds_, kind);
  const auto index = static_cast<std::size_t>(found - kinds_.begin());
  if (found == kinds_.end() && kinds_.size() < kMostKinds - 1) kinds_.push_back(kind);
  // Kinds beyond the last bit are followed as long as the cluster is.
  return index < kMostKinds - 1 ? std::uint64_t{1} << index : 0;
}

void TargetCache::count_kinds(Cluster& cluster, std::uint64_t kinds, int by) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if ((kinds >> i & 1U) == 0) continue;
    KindFeeds& feeds = cluster.kinds[kinds_[i]];
    feeds.followers += static_cast<std::size_t>(by);
    if (feeds.followers == 0) cluster.kinds.erase(kinds_[i]);
  }
}

void TargetCache::set_interests(Follower& follower, std::vector<Interest> interests, std::uint64_t kinds) {
  const std::span<const Interest> before(follower.interests_.get(), follower.interest_count_);
  if (!std::ranges::equal(before, interests)) {
    for (const Interest old : before) by_interest_.remove(old, follower.number_);
    for (const Interest now : interests) by_interest_.add(now, follower.number_);
    follower.interest_count_ = static_cast<std::uint32_t>(interests.size());
    follower.interests_ = interests.empty() ? nullptr : std::make_unique<Interest[]>(interests.size());
    std::ranges::copy(interests, follower.interests_.get());
  }
  const auto cluster = known_.find(follower.cluster());
  if (cluster == known_.end() || follower.kinds_ == kinds) return;
  count_kinds(cluster->second, kinds & ~follower.kinds_, 1);
  count_kinds(cluster->second, follower.kinds_ & ~kinds, -1);
  follower.kinds_ = kinds;
}

void TargetCache::wake(Follower& follower) {
  follower.is_dirty = true;
  woken_(follower);
}

void TargetCache::wake(Interest interest) {
  for (const FollowerTable::Follower number : by_interest_.find(interest)) wake(*followers_[number]);
}

void TargetCache::wake_all(const std::string& cluster) {
  const auto found = known_.find(cluster);
  if (found == known_.end()) return;
  for (Follower* follower : found->second.followers) wake(*follower);
}

/// Bits of the kinds of which a list is still to come.
std::uint64_t TargetCache::pending_kinds(const Cluster& cluster) const {
  std::uint64_t pending = 0;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const auto feeds = cluster.kinds.find(kinds_[i]);
    if (feeds == cluster.kinds.end()) continue;
    const auto is_pending = [](const std::unique_ptr<Feed>& feed) {
      return feed != nullptr && feed->stage() == Feed::Stage::Pending;
    };
    if (is_pending(feeds->second.wide) || std::ranges::any_of(feeds->second.by_namespace | std::views::values, is_pending))
      pending |= std::uint64_t{1} << i;
  }
  return pending;
}

/// A feed has moved on. Who waits for another one would look in vain, and is woken when that moves.
void TargetCache::wake_ready(const std::string& name) {
  const auto found = known_.find(name);
  if (found == known_.end()) return;
  const std::uint64_t pending = pending_kinds(found->second);
  for (Follower* follower : found->second.followers) {
    if ((follower->kinds_ & pending) == 0) wake(*follower);
  }
}

std::optional<kube::Resource> TargetCache::resource_of(const std::string& cluster, const KindName& kind) const {
  const auto found = known_.find(cluster);
  if (found == known_.end()) return std::nullopt;
  const auto feeds = found->second.kinds.find(kind);
  if (feeds == found->second.kinds.end() || feeds->second.resource.plural.empty()) return std::nullopt;
  return feeds->second.resource;
}

std::size_t TargetCache::feeds() const {
  std::size_t count = 0;
  for (const auto& [name, cluster] : known_) {
    for (const auto& [kind, feeds] : cluster.kinds) count += (feeds.wide ? 1 : 0) + feeds.by_namespace.size();
    count += (cluster.definitions ? 1 : 0) + (cluster.namespaces ? 1 : 0);
  }
  return count;
}

}  // namespace slipway::delivery::pipeline

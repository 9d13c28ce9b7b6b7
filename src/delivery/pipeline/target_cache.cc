#include "delivery/pipeline/target_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

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

TargetCache::TargetCache(Env& env, std::function<void(Follower&)> woken) : env_(env), woken_(std::move(woken)), tasks_(env) {}
TargetCache::~TargetCache() = default;

void TargetCache::start(control::Clusters& clusters, ApplicationChange application,
                        std::function<void(const std::string&)> forgotten) {
  clusters_ = &clusters;
  application_ = std::move(application);
  forgotten_ = std::move(forgotten);
  subscription_ = clusters.subscribe([this](const std::string& cluster) { cluster_changed(cluster); });
}

void TargetCache::add(Follower& follower) {
  Cluster& cluster = known_[follower.cluster];
  follower.slot_ = cluster.followers.size();
  cluster.followers.push_back(&follower);
}

void TargetCache::remove(Follower& follower) {
  set_interests(follower, {}, 0);
  const auto found = known_.find(follower.cluster);
  if (found == known_.end()) return;
  auto& all = found->second.followers;
  all[follower.slot_] = all.back();
  all[follower.slot_]->slot_ = follower.slot_;
  all.pop_back();
  if (!all.empty()) return;
  mapper_.forget(follower.cluster);
  known_.erase(found);
  if (forgotten_) forgotten_(follower.cluster);
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
  options.pool = pool_;
  auto feed = std::make_unique<Feed>(env_, tasks_, cluster.client, std::move(options),
                                     Feed::Listener{.changed =
                                                        [this, name, kind](const Object& before, const Object& after) {
                                                          if (!before.is_null()) object_changed(name, kind, before);
                                                          if (!after.is_null()) object_changed(name, kind, after);
                                                          if (application_ && application_kinds_.contains(kind))
                                                            application_(name, before, after);
                                                        },
                                                    .moved = [this, name] { wake_all(name); }});
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
  return cluster.namespaces->stage() == Feed::Stage::Followed && cluster.namespaces->informer().find({"", ns}) == nullptr;
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
        Feed::Options{.resource = kube::kDefinitions, .form = client::Form::Metadata, .pool = pool_},
        Feed::Listener{
            .changed = [this, name](const Object& before, const Object& after) { definitions_changed(name, before, after); },
            .moved = [this, name] { wake_all(name); }});
  }
  const Feed::Stage stage = cluster.definitions->stage();
  if (stage == Feed::Stage::Pending) return {};
  if (stage != Feed::Stage::Followed && stage != Feed::Stage::Stale) return {Served::Yes, assumed(kind, api_version)};
  const KnownKind* known = find_known_kind(kind.group, kind.kind);
  const auto& definitions = cluster.definitions->informer().objects();
  const bool is_defined = known != nullptr ? definitions.contains({"", fmt::format("{}.{}", known->plural, known->group)})
                                           : std::ranges::any_of(definitions, [&](const auto& one) {
                                               return group_of_definition(one.first.name) == kind.group;
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

void TargetCache::set_interests(Follower& follower, std::vector<std::uint64_t> interests, std::uint64_t kinds) {
  if (follower.interests_ != interests) {
    for (const std::uint64_t old : follower.interests_) by_interest_.remove(old, follower);
    for (const std::uint64_t now : interests) by_interest_.add(now, follower);
    interests.shrink_to_fit();
    follower.interests_ = std::move(interests);
  }
  const auto cluster = known_.find(follower.cluster);
  if (cluster == known_.end() || follower.kinds_ == kinds) return;
  count_kinds(cluster->second, kinds & ~follower.kinds_, 1);
  count_kinds(cluster->second, follower.kinds_ & ~kinds, -1);
  follower.kinds_ = kinds;
}

void TargetCache::wake(Follower& follower) {
  follower.is_dirty = true;
  woken_(follower);
}

void TargetCache::wake(std::uint64_t interest) {
  for (Follower* follower : by_interest_.find(interest)) wake(*follower);
}

void TargetCache::wake_all(const std::string& cluster) {
  const auto found = known_.find(cluster);
  if (found == known_.end()) return;
  for (Follower* follower : found->second.followers) wake(*follower);
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

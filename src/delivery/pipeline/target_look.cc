// One look at a target: the object, and what its row needs of others.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/pipeline/interest.h"
#include "delivery/pipeline/target_cache.h"

namespace slipway::delivery::pipeline {

using kube::Object;

struct TargetCache::Looking {
  TargetCache& cache;
  const std::string& name;
  Cluster& cluster;
  const std::string& ns;
  const AppRef& app;
  KindName kind{};
  std::vector<Interest> interests{};
  std::uint64_t kinds = 0;
  Sight sight{};

  void end(Sight::Kind how, std::string text = "") {
    sight.kind = how;
    sight.text = std::move(text);
  }

  void look() {
    if (!find_kind()) return;
    interests.push_back(interest_in(name, kind, ns, app.name));
    kinds |= cache.bit_of(kind);
    const Answer answer = cache.served(name, cluster, kind, app.api_version);
    if (answer.served == Served::Asked) return end(Sight::Kind::Pending);
    if (answer.served == Served::No) {
      return end(Sight::Kind::NotServed, fmt::format("its cluster has no kind {} ({})", kind.kind, kind.group));
    }
    const View own = cache.view(name, cluster, kind, answer.resource, ns);
    if (!is_usable(own, answer.resource)) return;
    sight.look.object = own.informer->get({ns, app.name});
    if (sight.look.object.is_null()) return look_for_namespace();
    sight.api_version = sight.look.object["apiVersion"].str();
    const KindRow* row = find_row(sight.look.object);
    if (row == nullptr) return end(Sight::Kind::Unknown, fmt::format("nothing is known of the kind {}", kind.kind));
    sight.kind = Sight::Kind::Seen;
    see_others(row->needs(sight.look.object));
  }

  bool find_kind() {
    const auto slash = app.api_version.find('/');
    const std::string group = slash == std::string::npos ? "" : app.api_version.substr(0, slash);
    kind = {group, app.kind};
    if (!app.api_version.empty()) return true;
    const KnownKind* known = find_known_kind("", app.kind);
    if (known == nullptr) {
      end(Sight::Kind::Unknown,
          fmt::format("spec.appRef.apiVersion: it is not known which group kind {} is of; say it as GROUP/VERSION", app.kind));
      return false;
    }
    kind = known->name();
    return true;
  }

  bool is_usable(const View& own, const kube::Resource& resource) {
    switch (own.stage) {
      case Feed::Stage::Followed:
        return true;
      case Feed::Stage::Pending:
        end(Sight::Kind::Pending);
        return false;
      case Feed::Stage::Refused:
        end(Sight::Kind::NoAccess,
            fmt::format("no access: may not list and watch {} in namespace {}: {}", resource.group_resource(), ns, own.text));
        return false;
      case Feed::Stage::NotServed:
        end(Sight::Kind::NotServed, fmt::format("its cluster has no kind {} ({})", kind.kind, kind.group));
        return false;
      case Feed::Stage::Failing:
        end(Sight::Kind::Failing, fmt::format("{} cannot be listed: {}", resource.group_resource(), own.text));
        return false;
      case Feed::Stage::Stale:
        end(Sight::Kind::Stale, fmt::format("changes of {} cannot be followed: {}", resource.group_resource(), own.text));
        return false;
    }
    return false;
  }

  void look_for_namespace() {
    if (cache.is_namespace_missing(name, cluster, ns)) {
      return end(Sight::Kind::NoSpace, fmt::format("its cluster has no namespace {}", ns));
    }
    end(Sight::Kind::Absent, fmt::format("there is no {} {}/{}", kind.kind, ns, app.name));
  }

  void see_others(const Needs& needs) {
    for (const Needs::Named& source : needs.sources) see_source(source);
    std::set<std::string> spaces = {ns};
    for (const std::string& maker : needs.makers) {
      interests.push_back(interest_in_made(name, maker));
      const auto blank = maker.find(' ');
      spaces.insert(maker.substr(blank + 1, maker.find('/') - blank - 1));
    }
    for (const KindName& made : needs.made) see_made(made, needs.makers, spaces);
    see_pods();
  }

  /// Null where it cannot be read. Then, while it may come, the whole look is pending.
  client::Informer* followed(const KindName& of, const std::string& space) {
    kinds |= cache.bit_of(of);
    const Answer answer = cache.served(name, cluster, of, "");
    if (answer.served == Served::Asked) sight.kind = Sight::Kind::Pending;
    if (answer.served != Served::Yes) return nullptr;
    const View there = cache.view(name, cluster, of, answer.resource, space);
    if (there.stage == Feed::Stage::Pending) sight.kind = Sight::Kind::Pending;
    const bool is_readable = there.stage == Feed::Stage::Followed || there.stage == Feed::Stage::Stale;
    const bool is_workload = is_built_in(of.group);
    if (!is_readable && is_workload) sight.look.has_workloads = false;
    return is_readable ? there.informer : nullptr;
  }

  void see_source(const Needs::Named& source) {
    const KnownKind* known = find_known_kind("", source.kind);
    if (known == nullptr) return;
    interests.push_back(interest_in(name, known->name(), source.ns, source.name));
    const client::Informer* there = followed(known->name(), source.ns);
    if (there == nullptr) return;
    if (Object found = there->get({source.ns, source.name}); !found.is_null()) sight.look.others.push_back(std::move(found));
  }

  void see_made(const KindName& made, const std::vector<std::string>& makers, const std::set<std::string>& spaces) {
    std::set<kube::ObjectKey> seen;
    const client::Informer* last = nullptr;
    for (const std::string& space : spaces) {
      const client::Informer* there = followed(made, space);
      if (there == nullptr || there == last) continue;
      last = there;
      for (const std::string& maker : makers) {
        for (Object& one : there->index("maker", maker)) {
          if (seen.insert(kube::key_of(one)).second && !is_there_already(one)) sight.look.others.push_back(std::move(one));
        }
      }
    }
  }

  /// A source may have been made by the same agent.
  bool is_there_already(const Object& object) const {
    return std::ranges::any_of(sight.look.others, [&](const Object& one) {
      return kube::kind(one) == kube::kind(object) && kube::key_of(one) == kube::key_of(object);
    });
  }

  void see_pods() {
    std::set<std::string> spaces;
    if (is_rolled(sight.look.object)) spaces.insert(ns);
    for (const Object& one : sight.look.others) {
      if (is_rolled(one)) spaces.insert(std::string(kube::ns(one)));
    }
    for (const std::string& space : spaces) {
      kinds |= cache.bit_of({"", "Pod"});
      interests.push_back(interest_in_pods(name, space));
      const View there = cache.pods(name, cluster, space);
      if (there.stage == Feed::Stage::Pending) sight.kind = Sight::Kind::Pending;
      if (there.stage != Feed::Stage::Followed) continue;
      for (Object& pod : there.informer->index("namespace", space)) {
        if (kube::is_true(pod, "Ready")) sight.look.others.push_back(std::move(pod));
      }
    }
  }
};

Sight TargetCache::look(Follower& follower, const std::string& ns, const AppRef& app) {
  Cluster& cluster = cluster_of(follower.cluster());
  if (cluster.client == nullptr) return {};
  Looking looking{.cache = *this, .name = follower.cluster(), .cluster = cluster, .ns = ns, .app = app};
  looking.look();
  application_kinds_.insert(looking.kind);
  // Before another follower lets go of the same kinds.
  set_interests(follower, std::move(looking.interests), looking.kinds);
  return std::move(looking.sight);
}

std::optional<std::vector<Object>> TargetCache::releases(Follower& follower) {
  Cluster& cluster = cluster_of(follower.cluster());
  if (cluster.client == nullptr) return std::nullopt;
  const KindName kind = release_kind();
  application_kinds_.insert(kind);
  std::optional<std::vector<Object>> found;
  const Answer answer = served(follower.cluster(), cluster, kind, "");
  if (answer.served == Served::No) found.emplace();
  if (answer.served == Served::Yes) {
    const View there = view(follower.cluster(), cluster, kind, answer.resource, "");
    if (there.stage == Feed::Stage::Followed || there.stage == Feed::Stage::Stale) {
      found.emplace();
      for (const auto& [key, object] : there.informer->objects()) found->push_back(object);
    }
    if (there.stage == Feed::Stage::NotServed) found.emplace();
  }
  set_interests(follower, {interest_in_releases(follower.cluster())}, bit_of(kind));
  return found;
}

std::vector<Object> TargetCache::triggers(Follower& follower) {
  std::vector<Object> found;
  Cluster& cluster = cluster_of(follower.cluster());
  if (cluster.client == nullptr) return found;
  std::uint64_t kinds = 0;
  for (const KindName& kind : trigger_kinds()) {
    kinds |= bit_of(kind);
    const Answer answer = served(follower.cluster(), cluster, kind, "");
    if (answer.served != Served::Yes) continue;
    const View there = view(follower.cluster(), cluster, kind, answer.resource, "");
    if (there.stage != Feed::Stage::Followed && there.stage != Feed::Stage::Stale) continue;
    for (const auto& [key, object] : there.informer->objects()) found.push_back(object);
  }
  set_interests(follower, {interest_in_triggers(follower.cluster())}, kinds);
  return found;
}

}  // namespace slipway::delivery::pipeline

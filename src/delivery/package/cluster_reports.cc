#include "delivery/package/cluster_reports.h"

#include <algorithm>

#include "base/lookup.h"
#include "kube/well_known.h"

namespace slipway::delivery::package {

void ClusterReports::attach(control::Watches& watches, std::function<void()> changed) {
  watches_ = &watches;
  changed_ = std::move(changed);
  subscription_ = watches.clusters().subscribe([this](const std::string& name) { follow(name); });
  for (const std::string& name : watches.clusters().names()) follow(name);
}

void ClusterReports::follow(const std::string& name) {
  if (watches_->clusters().find(name) == nullptr) return drop(name);
  if (clusters_.contains(name)) return;
  Cluster& cluster = clusters_[name];
  cluster.definitions = watches_->lease(name, kube::kDefinitions, client::Form::Metadata);
  if (!cluster.definitions) return drop(name);
  cluster.definitions.on_change([this, name](const json::Value&, const json::Value& after) {
    if (!after.is_null()) served(name, std::string(kube::name(after)));
  });
}

void ClusterReports::drop(const std::string& name) {
  const bool was_known = clusters_.erase(name) != 0;
  for (auto at = reports_.begin(); at != reports_.end();) {
    if (std::get<0>(at->first) != name) {
      ++at;
      continue;
    }
    for (const SyncReport& one : at->second) by_url_[plain_url(one.url)].erase(at->first);
    at = reports_.erase(at);
  }
  if (was_known) changed_();
}

void ClusterReports::served(const std::string& name, const std::string& definition) {
  for (const SyncRow& row : sync_rows()) {
    const auto is_it = [&](const kube::Resource& one) { return one.group_resource() == definition; };
    Cluster& cluster = clusters_[name];
    for (const kube::Resource& other : row.also) {
      if (!is_it(other) || cluster.feeds[other]) continue;
      cluster.feeds[other] = watches_->lease(name, other, client::Form::Whole);
      cluster.feeds[other].on_change([this, name, &row](const json::Value& before, const json::Value& after) {
        const bool is_same = !before.is_null() && !after.is_null() && before["spec"] == after["spec"];
        if (!is_same) put_all(name, row);
      });
    }
    if (!is_it(row.resource) || cluster.feeds[row.resource]) continue;
    cluster.feeds[row.resource] = watches_->lease(name, row.resource, client::Form::Whole);
    cluster.feeds[row.resource].on_change([this, name, &row](const json::Value& before, const json::Value& after) {
      put(name, row, kube::key_of(after.is_null() ? before : after), after);
    });
  }
}

kube::Object ClusterReports::find(const std::string& name, const kube::Resource& resource, const kube::ObjectKey& key) const {
  const auto cluster = clusters_.find(name);
  if (cluster == clusters_.end()) return {};
  const auto feed = cluster->second.feeds.find(resource);
  return feed == cluster->second.feeds.end() || !feed->second ? kube::Object() : feed->second->get(key);
}

void ClusterReports::put_all(const std::string& name, const SyncRow& row) {
  const auto cluster = clusters_.find(name);
  if (cluster == clusters_.end()) return;
  const auto feed = cluster->second.feeds.find(row.resource);
  if (feed == cluster->second.feeds.end() || !feed->second) return;
  for (const auto& [key, object] : feed->second->objects()) put(name, row, key, object);
}

void ClusterReports::put(const std::string& name, const SyncRow& row, const kube::ObjectKey& key, const kube::Object& object) {
  const Id id{name, row.resource, key};
  std::vector<SyncReport> made;
  if (!object.is_null()) {
    made = row.read(object,
                    [&](const kube::Resource& resource, const kube::ObjectKey& other) { return find(name, resource, other); });
  }
  for (SyncReport& one : made) one.cluster = name;
  std::vector<SyncReport>& known = reports_[id];
  if (known == made) return;
  for (const SyncReport& one : known) by_url_[plain_url(one.url)].erase(id);
  known = std::move(made);
  for (const SyncReport& one : known) by_url_[plain_url(one.url)].insert(id);
  if (known.empty()) reports_.erase(id);
  changed_();
}

std::vector<SyncReport> ClusterReports::of(std::string_view url) const {
  std::vector<SyncReport> found;
  const auto ids = by_url_.find(plain_url(url));
  if (ids == by_url_.end()) return found;
  for (const Id& id : ids->second) {
    for (const SyncReport& one : value_at(reports_, id)) {
      if (plain_url(one.url) == ids->first) found.push_back(one);
    }
  }
  return found;
}

}  // namespace slipway::delivery::package

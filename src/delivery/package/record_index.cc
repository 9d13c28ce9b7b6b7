#include "delivery/package/record_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "delivery/package/cluster_sync.h"
#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

std::string upstream_id(std::string_view ns, std::string_view url, std::string_view folder) {
  return fmt::format("{}|{}|{}", ns, plain_url(url), plain_path(folder));
}

std::string upstream_of(const kube::ObjectKey& key, const RevisionRecord& record) {
  if (!record.upstream_lock || !record.upstream_lock->git) return "";
  return upstream_id(key.ns, record.upstream_lock->git->repo, record.upstream_lock->git->directory);
}

}  // namespace

std::string package_id(std::string_view ns, std::string_view repository, std::string_view path) {
  return fmt::format("{}/{}/{}", ns, repository, plain_path(path));
}

std::string package_id(const kube::Object& record) {
  const json::Value& spec = record["spec"];
  return package_id(kube::ns(record), spec["repository"].as_string(), spec["packageName"].as_string());
}

std::optional<std::int64_t> upstream_number(const RevisionRecord& record) {
  if (!record.upstream_lock || !record.upstream_lock->git || record.upstream_lock->git->ref.empty()) return std::nullopt;
  std::string_view ref = record.upstream_lock->git->ref;
  if (ref.starts_with("drafts")) return kUnpublished;
  ref = ref.substr(ref.rfind('/') + 1);
  if (ref.starts_with('v')) ref.remove_prefix(1);
  std::int64_t number = kPlaceholder;
  const auto read = std::from_chars(ref.data(), ref.data() + ref.size(), number);
  return read.ec == std::errc() && read.ptr == ref.data() + ref.size() ? number : kPlaceholder;
}

void RecordIndex::attach(control::Watches& watches) {
  client::Informer& records = watches.cache(kRecords);
  if (is_attached_) return;
  is_attached_ = true;
  records.add_handler([this](const kube::Object& before, const kube::Object& after) { put(before, after); });
}

void RecordIndex::put(const kube::Object& before, const kube::Object& after) {
  const kube::ObjectKey key = kube::key_of(after.is_null() ? before : after);
  if (const auto old = known_.find(key); old != known_.end()) {
    remove(key, *old->second);
    known_.erase(old);
  }
  if (after.is_null()) return;
  auto record = read_record(after);
  if (!record) {
    env_.log.warn("a record of a package revision cannot be read",
                  {{"record", key.to_string()}, {"error", record.error().message}});
    return;
  }
  const auto made = std::make_shared<const StoredRecord>(*std::move(record));
  known_.emplace(key, made);
  add(key, *made);
}

void RecordIndex::add(const kube::ObjectKey& key, const StoredRecord& record) {
  by_package_[package_id(key.ns, record.record.repository, record.record.path)].insert(key);
  for (const json::Value& owner : record.record.owners.items()) by_owner_[owner["uid"].str()].insert(key);
  if (const std::string upstream = upstream_of(key, record.record); !upstream.empty()) by_upstream_[upstream].insert(key);
  const Lifecycle lifecycle = record.record.lifecycle;
  if (lifecycle == Lifecycle::Proposed || lifecycle == Lifecycle::DeletionProposed) proposals_.insert(key);
}

void RecordIndex::remove(const kube::ObjectKey& key, const StoredRecord& record) {
  const auto drop = [&](auto& index, const std::string& at) {
    const auto found = index.find(at);
    if (found == index.end()) return;
    found->second.erase(key);
    if (found->second.empty()) index.erase(found);
  };
  drop(by_package_, package_id(key.ns, record.record.repository, record.record.path));
  for (const json::Value& owner : record.record.owners.items()) drop(by_owner_, owner["uid"].str());
  if (const std::string upstream = upstream_of(key, record.record); !upstream.empty()) drop(by_upstream_, upstream);
  proposals_.erase(key);
}

RecordIndex::Known RecordIndex::find(const kube::ObjectKey& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : found->second;
}

std::vector<RecordIndex::Known> RecordIndex::lookup(const std::map<std::string, std::set<kube::ObjectKey>>& index,
                                                    const std::string& key) const {
  std::vector<Known> out;
  const auto found = index.find(key);
  if (found == index.end()) return out;
  for (const kube::ObjectKey& one : found->second) out.push_back(known_.at(one));
  return out;
}

std::vector<RecordIndex::Known> RecordIndex::of_package(std::string_view ns, const PackageKey& package) const {
  return lookup(by_package_, package_id(ns, package.repository, package.path));
}

std::vector<RecordIndex::Known> RecordIndex::of_repository(std::string_view ns, std::string_view repository) const {
  const std::string prefix = fmt::format("{}/{}/", ns, repository);
  std::vector<Known> out;
  for (auto at = by_package_.lower_bound(prefix); at != by_package_.end() && at->first.starts_with(prefix); ++at) {
    for (const kube::ObjectKey& one : at->second) out.push_back(known_.at(one));
  }
  return out;
}

std::vector<RecordIndex::Known> RecordIndex::owned_by(std::string_view uid) const {
  return lookup(by_owner_, std::string(uid));
}

std::vector<RecordIndex::Known> RecordIndex::from_upstream(std::string_view ns, std::string_view url,
                                                           std::string_view folder) const {
  return lookup(by_upstream_, upstream_id(ns, url, folder));
}

std::int64_t RecordIndex::newest(std::string_view ns, const PackageKey& package) const {
  std::int64_t newest = 0;
  for (const Known& one : of_package(ns, package)) {
    if (is_published(one->record.lifecycle)) newest = std::max(newest, one->record.revision);
  }
  return newest;
}

}  // namespace slipway::delivery::package

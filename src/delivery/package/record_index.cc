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

bool is_proposed(std::string_view lifecycle) {
  return lifecycle == json::enum_name(Lifecycle::Proposed) || lifecycle == json::enum_name(Lifecycle::DeletionProposed);
}

/// Most changes are verdicts, which move a record nowhere.
bool is_same_place(const kube::Object& before, const kube::Object& after) {
  if (before.is_null() || after.is_null()) return false;
  const json::Value& was = before["spec"];
  const json::Value& is = after["spec"];
  return was["lifecycle"] == is["lifecycle"] && was["owners"] == is["owners"] && was["upstreamLock"] == is["upstreamLock"] &&
         was["repository"] == is["repository"] && was["packageName"] == is["packageName"];
}

void move_key(std::map<std::string, std::set<kube::ObjectKey>>& index, const kube::ObjectKey& key,
              const std::set<std::string>& from, const std::set<std::string>& to) {
  if (from == to) return;
  for (const std::string& one : from) {
    const auto at = index.find(one);
    if (at == index.end()) continue;
    at->second.erase(key);
    if (at->second.empty()) index.erase(at);
  }
  for (const std::string& one : to) index[one].insert(key);
}

}  // namespace

struct RecordIndex::Places {
  std::set<std::string> package{};  // each of these is empty for no record
  std::set<std::string> owners{};
  std::set<std::string> upstream{};
  bool is_proposed = false;

  static Places of(const kube::Object& object) {
    Places places;
    if (object.is_null()) return places;
    const json::Value& spec = object["spec"];
    places.package.insert(package_id(object));
    for (const json::Value& owner : spec["owners"].items()) places.owners.insert(owner["uid"].str());
    if (const json::Value& lock = spec["upstreamLock"]["git"]; lock.is_object()) {
      places.upstream.insert(upstream_id(kube::ns(object), lock["repo"].as_string(), lock["directory"].as_string()));
    }
    places.is_proposed = package::is_proposed(spec["lifecycle"].as_string());
    return places;
  }
};

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
  if (records_ != nullptr) return;
  records_ = &records;
  records.add_handler([this](const kube::Object& before, const kube::Object& after) { put(before, after); });
}

void RecordIndex::put(const kube::Object& before, const kube::Object& after) {
  const kube::ObjectKey key = kube::key_of(after.is_null() ? before : after);
  forget(key);
  if (is_same_place(before, after)) return;
  const Places was = Places::of(before);
  const Places is = Places::of(after);
  move_key(by_package_, key, was.package, is.package);
  move_key(by_owner_, key, was.owners, is.owners);
  move_key(by_upstream_, key, was.upstream, is.upstream);
  if (is.is_proposed) proposals_.insert(key);
  if (was.is_proposed && !is.is_proposed) proposals_.erase(key);
}

void RecordIndex::forget(const kube::ObjectKey& key) const {
  const auto found = decoded_.find(key);
  if (found == decoded_.end()) return;
  recent_.erase(found->second);
  decoded_.erase(found);
}

RecordIndex::Known RecordIndex::find(const kube::ObjectKey& key) const {
  if (const auto found = decoded_.find(key); found != decoded_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
  }
  const kube::Object object = records_ == nullptr ? kube::Object() : records_->get(key);
  if (object.is_null()) return nullptr;
  auto record = read_record(object);
  if (!record) {
    env_.log.warn("a record of a package revision cannot be read",
                  {{"record", key.to_string()}, {"error", record.error().message}});
    return nullptr;
  }
  if (recent_.size() == kMostDecoded) forget(kube::ObjectKey(recent_.back().first));
  recent_.emplace_front(key, std::make_shared<const StoredRecord>(*std::move(record)));
  decoded_.emplace(key, recent_.begin());
  return recent_.front().second;
}

std::vector<RecordIndex::Known> RecordIndex::lookup(const Keys& index, const std::string& key) const {
  std::vector<Known> out;
  const auto found = index.find(key);
  if (found == index.end()) return out;
  for (const kube::ObjectKey& one : found->second) {
    if (Known known = find(one)) out.push_back(std::move(known));
  }
  return out;
}

std::vector<RecordIndex::Known> RecordIndex::of_package(std::string_view ns, const PackageKey& package) const {
  return lookup(by_package_, package_id(ns, package.repository, package.path));
}

std::vector<RecordIndex::Known> RecordIndex::of_repository(std::string_view ns, std::string_view repository) const {
  const std::string prefix = fmt::format("{}/{}/", ns, repository);
  std::vector<Known> out;
  for (auto at = by_package_.lower_bound(prefix); at != by_package_.end() && at->first.starts_with(prefix); ++at) {
    for (const kube::ObjectKey& one : at->second) {
      if (Known known = find(one)) out.push_back(std::move(known));
    }
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

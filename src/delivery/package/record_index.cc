#include "delivery/package/record_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "delivery/package/cluster_sync.h"
#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

constexpr const char* kByOwner = "owner";
constexpr const char* kRecordsByUpstream = "upstream";
constexpr const char* kProposed = "proposed";
constexpr const char* kYes = "yes";  // the only key of kProposed

std::string upstream_id(std::string_view ns, std::string_view url, std::string_view folder) {
  return fmt::format("{}|{}|{}", ns, plain_url(url), plain_path(folder));
}

bool is_proposed(std::string_view lifecycle) {
  return lifecycle == json::enum_name(Lifecycle::Proposed) || lifecycle == json::enum_name(Lifecycle::DeletionProposed);
}

using Keys = std::vector<std::string>;

Keys owners_of(const kube::Object& record) {
  Keys uids;
  for (const json::Value& owner : record["spec"]["owners"].items()) uids.push_back(owner["uid"].str());
  return uids;
}

Keys upstreams_of(const kube::Object& record) {
  const json::Value& lock = record["spec"]["upstreamLock"]["git"];
  if (!lock.is_object()) return {};
  return {upstream_id(kube::ns(record), lock["repo"].as_string(), lock["directory"].as_string())};
}

Keys proposals_of(const kube::Object& record) {
  return is_proposed(record["spec"]["lifecycle"].as_string()) ? Keys{kYes} : Keys{};
}

}  // namespace

PackageKey package_of(const kube::Object& record) {
  const json::Value& spec = record["spec"];
  return {spec["repository"].str(), plain_path(spec["packageName"].as_string())};
}

std::string package_id(std::string_view ns, std::string_view repository, std::string_view path) {
  return fmt::format("{}/{}/{}", ns, repository, plain_path(path));
}

std::string package_id(const kube::Object& record) {
  const json::Value& spec = record["spec"];
  return package_id(kube::ns(record), spec["repository"].as_string(), spec["packageName"].as_string());
}

std::string repository_id(const kube::Object& record) {
  return fmt::format("{}/{}", kube::ns(record), record["spec"]["repository"].as_string());
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

std::vector<kube::ObjectKey> keys_below(const client::Informer& records, std::string_view ns, const PackageKey& package) {
  const std::string prefix = (package.path.empty() ? package.repository : package.object_name()) + '.';
  std::vector<kube::ObjectKey> found;
  for (const kube::ObjectKey& key : records.keys(ns, prefix)) found.push_back(key);
  return found;
}

std::vector<json::Value> records_of(const client::Informer& records, std::string_view ns, std::string_view repository) {
  std::vector<json::Value> found;
  for (const kube::ObjectKey& key : keys_below(records, ns, {std::string(repository), ""})) {
    json::Value record = records.get(key);
    if (record["spec"]["repository"].as_string() == repository) found.push_back(std::move(record));
  }
  return found;
}

void RecordIndex::attach(control::Watches& watches) {
  client::Informer& records = watches.cache(kRecords);
  if (records_ != nullptr) return;
  records_ = &records;
  records.add_index(kByOwner, owners_of);
  records.add_index(kRecordsByUpstream, upstreams_of);
  records.add_index(kProposed, proposals_of);
  records.add_handler([this](const kube::Object& before, const kube::Object& after) {
    forget(kube::key_of(after.is_null() ? before : after));
  });
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

std::vector<RecordIndex::Known> RecordIndex::lookup(const char* index, const std::string& key) const {
  std::vector<Known> out;
  if (records_ == nullptr) return out;
  for (const kube::ObjectKey& one : records_->index_keys(index, key)) {
    if (Known known = find(one)) out.push_back(std::move(known));
  }
  return out;
}

std::vector<RecordIndex::Known> RecordIndex::of_package(std::string_view ns, const PackageKey& package) const {
  std::vector<Known> out;
  if (records_ == nullptr) return out;
  const PackageKey wanted{package.repository, plain_path(package.path)};
  for (const kube::ObjectKey& key : keys_below(*records_, ns, wanted)) {
    Known known = find(key);
    if (known != nullptr && package_of(known->object) == wanted) out.push_back(std::move(known));
  }
  return out;
}

std::vector<RecordIndex::Known> RecordIndex::of_repository(std::string_view ns, std::string_view repository) const {
  std::vector<Known> out;
  if (records_ == nullptr) return out;
  for (const kube::ObjectKey& key : keys_below(*records_, ns, {std::string(repository), ""})) {
    Known known = find(key);
    if (known != nullptr && known->record.repository == repository) out.push_back(std::move(known));
  }
  return out;
}

std::vector<RecordIndex::Known> RecordIndex::owned_by(std::string_view uid) const { return lookup(kByOwner, std::string(uid)); }

std::vector<RecordIndex::Known> RecordIndex::from_upstream(std::string_view ns, std::string_view url,
                                                           std::string_view folder) const {
  return lookup(kRecordsByUpstream, upstream_id(ns, url, folder));
}

std::vector<kube::ObjectKey> RecordIndex::proposals() const {
  return records_ == nullptr ? std::vector<kube::ObjectKey>() : records_->index_keys(kProposed, kYes);
}

std::int64_t RecordIndex::newest(std::string_view ns, const PackageKey& package) const {
  std::int64_t newest = 0;
  for (const Known& one : of_package(ns, package)) {
    if (is_published(one->record.lifecycle)) newest = std::max(newest, one->record.revision);
  }
  return newest;
}

}  // namespace slipway::delivery::package

// The records of revisions as the controllers look at them, found by package, by repository, by owner and by the upstream that
// they follow. So no controller reads all revisions to find those of one package. Those of a package or a repository are found
// by how their names begin, the others by indexes of the one cache of records: a record is decoded when it is asked for, and
// the last kMostDecoded of them stay decoded until they change.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/controller.h"
#include "delivery/package/names.h"
#include "delivery/package/records.h"

namespace slipway::delivery::package {

/// The records whose names begin with the package's, in order: those of packages below it are among them. Without a path: of
/// the repository. For those who read the cache without a RecordIndex.
std::vector<kube::ObjectKey> keys_below(const client::Informer& records, std::string_view ns, const PackageKey& package);
std::vector<json::Value> records_of(const client::Informer& records, std::string_view ns, std::string_view repository);

class RecordIndex {
 public:
  using Known = std::shared_ptr<const StoredRecord>;
  /// As many as most rollouts have followers, which are looked at together.
  static constexpr std::size_t kMostDecoded = 128;

  explicit RecordIndex(Env& env) : env_(env) {}
  RecordIndex(const RecordIndex&) = delete;
  RecordIndex& operator=(const RecordIndex&) = delete;

  /// Each controller that reads it calls this in its watch(): the first call follows the records, and from each on the
  /// controller waits for them. A change is in the index before any mapper is told of it.
  void attach(control::Watches& watches);

  /// Null when absent, and for one that cannot be read, which is said in the log and left out of all lists below.
  Known find(const kube::ObjectKey& key) const;
  /// In the order of names.
  std::vector<Known> of_package(std::string_view ns, const PackageKey& package) const;
  std::vector<Known> of_repository(std::string_view ns, std::string_view repository) const;
  std::vector<Known> owned_by(std::string_view uid) const;
  /// Revisions whose content came from that folder of that Git repository: their upstreamLock says so.
  std::vector<Known> from_upstream(std::string_view ns, std::string_view url, std::string_view folder) const;
  /// Those whose publication or deletion is proposed.
  std::vector<kube::ObjectKey> proposals() const;

  /// The number of the package's newest published revision; 0: none.
  std::int64_t newest(std::string_view ns, const PackageKey& package) const;

 private:
  using Recent = std::list<std::pair<kube::ObjectKey, Known>>;

  void forget(const kube::ObjectKey& key) const;
  std::vector<Known> lookup(const char* index, const std::string& key) const;

  Env& env_;
  const client::Informer* records_ = nullptr;
  mutable Recent recent_;  // decoded, the last that was asked for first
  mutable std::map<kube::ObjectKey, Recent::iterator> decoded_;
};

/// As the names of revisions have it.
PackageKey package_of(const kube::Object& record);
/// "NS/REPOSITORY/PATH" of a record or a package: what mappers and indexes of controllers are keyed by.
std::string package_id(std::string_view ns, std::string_view repository, std::string_view path);
std::string package_id(const kube::Object& record);
/// "NS/REPOSITORY" of a record.
std::string repository_id(const kube::Object& record);
/// The number of the upstream revision that the content came from: 0 for a draft, -1 for a branch; nullopt where nothing is
/// known (as Porch reads upstreamLock.git.ref).
std::optional<std::int64_t> upstream_number(const RevisionRecord& record);

}  // namespace slipway::delivery::package

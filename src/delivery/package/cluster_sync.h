// What clusters themselves say about the content of a repository: RootSyncs of Config Sync, Kustomizations of Flux (with their
// GitRepositories) and Applications of Argo CD, each a row that reads one kind. A revision is synced where one of them reports
// the commit that it was published with, or a later one that contains it; nothing else counts, least of all that time has
// passed. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/object.h"

namespace slipway::delivery::package {

/// How far a cluster is with one folder of a repository.
struct SyncReport {
  enum class State : std::uint8_t {
    Syncing,  // it is at work, or has said nothing
    Synced,   // it has what is in `commit`, and cannot tell yet whether that is well
    Healthy,  // and it is
    Failed,   // it has tried `commit`, in vain
  };
  std::string cluster{};
  std::string object{};  // "RootSync config-management-system/root-sync"
  std::string url{};
  std::string branch{};  // empty: whatever the repository's head is
  std::string folder{};  // empty: all of it
  std::string commit{};  // that this is about; empty: none yet
  State state = State::Syncing;
  std::string text{};  // of Failed

  bool operator==(const SyncReport&) const = default;
};

/// Reads objects of one kind. `find` gives an object of the same cluster, or null.
struct SyncRow {
  using Find = std::function<kube::Object(const kube::Resource& resource, const kube::ObjectKey& key)>;

  kube::Resource resource;
  std::vector<kube::Resource> also{};  // that `read` looks up
  std::vector<SyncReport> (*read)(const kube::Object& object, const Find& find);
};
std::span<const SyncRow> sync_rows();

/// A folder of a repository, as a package has it.
struct SyncPlace {
  std::string url{};
  std::string branch{};
  std::string path{};  // from the repository's root
};
/// Without a slash or ".git" at its end: the same repository may be written in several ways.
std::string plain_url(std::string_view url);
/// The report is about a folder that the place is, or lies in.
bool is_about(const SyncReport& report, const SyncPlace& place);

/// Pairs (descendant, ancestor) of commits that are known to be so.
using Ancestry = std::set<std::pair<std::string, std::string>>;

struct SyncView {
  SyncReport::State state = SyncReport::State::Syncing;
  bool is_reported = false;            // some cluster has the repository at all
  std::string text{};                  // why it is not further
  std::vector<std::string> unknown{};  // reported commits of which it is not known whether they contain `commit`
};
/// All reports about the place together: the one that is the least far counts, and one that failed before all.
SyncView look(const std::vector<SyncReport>& reports, const SyncPlace& place, const std::string& commit,
              const Ancestry& ancestry);

}  // namespace slipway::delivery::package

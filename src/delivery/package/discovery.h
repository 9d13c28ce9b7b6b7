// What a repository has, read from its references: drafts, proposals, published revisions and the packages of its branch; and
// what the log has to take over of that. Pure. What others have pushed is followed where nothing of ours would be lost:
// a draft that went on from what the log knows. Anything else is drift, which is told and left as it is.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/git.h"
#include "delivery/package/names.h"
#include "delivery/package/pushed_verdicts.h"
#include "delivery/package/records.h"
#include "delivery/package/update.h"

namespace slipway::delivery::package {

/// A revision as the references have it.
struct FoundRevision {
  RevisionKey key{};
  Lifecycle lifecycle = Lifecycle::Draft;
  std::int64_t revision = 0;
  std::string commit{};
  std::string ref{};

  bool operator==(const FoundRevision&) const = default;
};

struct Discovery {
  std::string repository{};
  Place place{};
  std::map<std::string, std::string> refs{};        // commit by name
  std::map<std::string, std::string> workspaces{};  // of tags, by name of the reference; absent: not said
  std::set<std::string> strangers{};                // tags of commits without the folder: they are none of ours
  /// Packages on the branch: by path the commit that their revision is at, the branch's or an older one with the same content.
  std::map<std::string, std::string> packages{};
};
/// By key. Of two tags that would have one name that one is taken whose workspace is said, as of those that we make, else the
/// first by reference; `faults` tells of the other.
std::vector<FoundRevision> discovered(const Discovery& from, std::vector<std::string>& faults);

/// The packages below the repository's folder among these files: by path a digest of the names and bytes of all that is in the
/// package, which is the same as long as its content is. One inside another is none, but belongs to that one's content.
std::map<std::string, std::string> packages_in(const std::vector<GitFile>& files, std::string_view folder);

/// How a record relates to what was found.
enum class Relation : std::uint8_t {
  Same,
  Busy,     // the log has something to do to the repository: afterwards
  New,      // no record
  Moved,    // the content goes on from the record's, if its commit descends from that
  Changed,  // only the lifecycle or the number is another
  Gone,     // no reference
};
/// `record` and `found` may be null, not both.
Relation relation_of(const RevisionRecord* record, const FoundRevision* found);

/// The record of a revision that was found, with that content. What `pushed` says was committed for it counts as a verdict of
/// the commit's author; other conditions in the Kptfile of a draft, as one that began as a copy has them, are claims.
struct Adopted {
  const FoundRevision& found;
  const std::map<std::string, std::string>& files;
  bool is_deployment = false;
  Time now{};
  PushedVerdicts pushed{};
  /// Of followed(): the content at the record's commit; null where the mirror has it no more.
  const std::map<std::string, std::string>* before = nullptr;
};
RevisionRecord adopted(const Adopted& from);
/// `record` with the content that others have pushed.
RevisionRecord followed(RevisionRecord record, const Adopted& from);

}  // namespace slipway::delivery::package

// Upgrading a package: the old upstream, the new upstream and the local copy become the new local copy, by one of kpt's four
// strategies (Kptfile.upstream.updateStrategy). Resources are matched by group, kind, namespace/name (those of the comment
// "kpt-merge: ns/name" where there is one) and file; Kptfiles are merged by rules of their own: names, upstream and
// upstreamLock stay local, functions are merged by name, or by image when none has a name. DIVERGES: gates and conditions are
// merged as sets by their type, so that an upgrade loses no gate that a deployer added; what both sides changed is reported.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "krm/merge_fields.h"
#include "krm/package.h"

namespace slipway::krm {

enum class Strategy : std::uint8_t {
  ResourceMerge,       // field by field
  FastForward,         // only when nothing was changed locally
  ForceDeleteReplace,  // the new upstream as it is
  CopyMerge,           // the new upstream's files over the local ones
};
/// "resource-merge" (also for ""), "fast-forward", "force-delete-replace", "copy-merge". Invalid for others.
Result<Strategy> strategy_of(std::string_view name);

/// The files with the marks by which resources are found again after a rename: the comment "kpt-merge: ns/name" at metadata and
/// the annotation internal.kpt.dev/upstream-identifier, "group|kind|namespace|name". Fetching and cloning write them, and every
/// upgrade; what is marked already stays as it is. Files are written in kpt's form.
Result<Files> with_merge_identity(const Files& files);
/// The same marks, and all other bytes as they were. A file that cannot be read, or cannot be marked so, stays as it is.
Files with_merge_marks(Files files);

struct Upgrade {
  Files files;
  std::vector<Conflict> conflicts;
};

/// Whether an upgrade marks all resources as with_merge_identity does: `kpt pkg update` does, Porch does not.
enum class Identity : bool { Left, Written };

/// As kpt, fast-forward and force-delete-replace leave the root's Kptfile as it is locally.
/// Conflict when a fast-forward meets local changes; Invalid when both sides added a subpackage of one name; BadRequest for
/// files that cannot be read. The Kptfile's upstream and upstreamLock are the caller's to set.
Result<Upgrade> upgrade(const Files& origin, const Files& upstream, const Files& local, Strategy strategy,
                        Identity identity = Identity::Left);

/// Whether a merged Kptfile takes upstream and upstreamLock of the new version: those of subpackages do.
enum class Locks : bool { Local, Upstream };
/// Texts of Kptfiles; an absent origin is "".
Result<std::string> merge_kptfiles(std::string_view origin, std::string_view upstream, std::string_view local, Locks locks,
                                   std::vector<Conflict>* conflicts = nullptr);

/// A conflict for people: "a.yaml Deployment web spec.replicas: 3 → upstream 5, local 4; upstream taken".
std::string describe(const Conflict& conflict);

}  // namespace slipway::krm

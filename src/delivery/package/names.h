// How package revisions are called, and where they are in a Git repository.
//
// A revision of package a/b in repository edge with workspace v1 is the object edge.a.b.v1. Neither repositories nor workspaces
// nor parts of a package's path have dots, so the name can be read back in one way only. In Git, below the repository's folder:
//
//   Draft             branch drafts/a/b/v1            Published          commit on the repository's branch, and tag a/b/v3
//   Proposed          branch proposed/a/b/v1          DeletionProposed   the same, and branch deletionProposed/a/b/v3
//
// What the branch has is edge.a.b.BRANCH, whose proposal to be deleted is deletionProposed/a/b/BRANCH.
//
// DIVERGES: Porch accepts parts with dots when it finds them in Git, so that two revisions may have one name; here they are not
// served and the repository says so. A package inside another is refused by whole paths, not by last names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "delivery/package/spec.h"

namespace slipway::delivery::package {

/// Number of a revision that is not published, and of the one that follows the repository's branch.
inline constexpr std::int64_t kUnpublished = 0;
inline constexpr std::int64_t kPlaceholder = -1;

struct PackageKey {
  std::string repository{};
  std::string path{};  // "a/b": no slash at the ends

  auto operator<=>(const PackageKey&) const = default;
  /// "edge.a.b": the name of the PorchPackage.
  std::string object_name() const;
};
struct RevisionKey {
  PackageKey package{};
  std::string workspace{};

  auto operator<=>(const RevisionKey&) const = default;
  /// "edge.a.b.v1"
  std::string object_name() const;
};
/// Nullopt for a name that no revision has: fewer than three parts, or one that is no label.
std::optional<RevisionKey> parse_revision_name(std::string_view name);
std::optional<PackageKey> parse_package_name(std::string_view name);

/// "/a/b/" as "a/b".
std::string plain_path(std::string_view path);
/// What is wrong with the name of a package, worded as Porch's ValidateDirectoryName; empty: nothing.
std::string package_name_fault(std::string_view path);
/// Causes for spec.packageName and spec.workspaceName. What passes makes a name that fits: 63 bytes of repository, 125 of path
/// (its labels have 63 without slashes), 63 of workspace and two dots are 253. `branch` is the repository's: a workspace of
/// that name is the placeholder's.
std::vector<Cause> name_causes(const RevisionKey& key, std::string_view branch);

/// Whether one of the two is the other or lies in it.
bool paths_overlap(std::string_view one, std::string_view other);
/// BadRequest for a new package at `path` when one of those there is at, above or below it.
Result<void> check_nesting(std::string_view path, std::span<const std::string> there);

/// The next of the numbers that published revisions have: their highest + 1; placeholders do not count.
std::int64_t next_revision(std::span<const std::int64_t> published);
/// "packagevariant-4" when the highest workspace of that form is 3.
std::string next_workspace(std::string_view prefix, std::span<const std::string> there);

enum class RefKind : std::uint8_t { Draft, Proposed, DeletionProposed, Tag, Branch, Other };

/// What a reference says about a package.
struct PackageRef {
  RefKind kind = RefKind::Other;
  std::string path{};         // of the package below the repository's folder; of Branch and Other: the name
  std::string workspace{};    // of Draft and Proposed, and of DeletionProposed for what follows the branch
  std::int64_t revision = 0;  // of Tag and DeletionProposed

  bool operator==(const PackageRef&) const = default;
};
/// Reads "refs/heads/drafts/infra/a/v1" for a repository with that branch and folder ("infra" or ""). Tags and branches outside
/// the folder, of other forms or with parts that are no labels are Other.
PackageRef read_ref(std::string_view name, std::string_view branch, std::string_view folder);
/// The reference of a revision in that lifecycle: its branch, of Published the tag. Empty for Published without a number, and
/// for DeletionProposed of what follows a branch that is called as a number is ("v3").
std::string ref_of(const RevisionKey& key, std::int64_t revision, Lifecycle lifecycle, std::string_view folder);

/// The line of a commit's message that Porch finds revisions by:
/// kpt:{"package":"a/b","workspaceName":"v1","revision":"0"}
struct CommitNote {
  std::string package{};
  std::string workspace{};
  std::string revision{};
  std::optional<json::Value> task{};

  static void describe(auto& d) {
    d.doc("What a commit did.");
    d.ignore_unknown();
    d.field("package", &CommitNote::package, "The package's path, with the repository's folder.");
    d.field("workspaceName", &CommitNote::workspace, "The revision's workspace.");
    d.field("revision", &CommitNote::revision, "The revision's number, as text.");
    d.field("task", &CommitNote::task, "The task.").any_object();
  }
  bool operator==(const CommitNote&) const = default;
};
/// The message with the note after an empty line.
std::string with_note(std::string_view message, const CommitNote& note);
/// The notes of a message, in order. Lines that cannot be read are left out: people write messages too.
std::vector<CommitNote> notes_of(std::string_view message);

}  // namespace slipway::delivery::package

// What was decided about a revision and is still to be done to its repository. The verdict is one append to the log, with this
// intent in it; the changes of the remote's references follow, one at a time, and are found again after a crash: next_step()
// looks at the references as they are, not at what was done. Nothing is forced, and what others have pushed is never
// overwritten.
//
// The remote changes one reference at a time, so the order matters. Of an approval:
//   1  the commit is made in the mirror, with parent, number, author and time of the intent: no reader sees it yet
//   2  the intent is appended
//   3  the tag PATH/vN is created: that decides the number. Taken by another writer: the next number, from 1
//   4  the branch gets the commit; if it has moved, a merge of both, and again until it stands still. If somebody has changed
//   the
//      package itself there, the tag goes again and nothing is published
//   5  the proposal's branch is removed
//   6  the end is appended: only now it is Published
// A crash after any of these is resumed from the references: a tag that points at the intent's commit is its own, a branch that
// contains it is done.
//
// What the branch has is deleted in the same way: the commit without the package's folder is made and appended with the intent,
// the branch gets it, and then the branch goes that proposed the deletion. If somebody has changed the package meanwhile
// nothing is removed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "delivery/package/names.h"
#include "json/codec.h"

namespace slipway::delivery::package {

enum class IntentKind : std::uint8_t { Save, Propose, Withdraw, Approve, ProposeDeletion, Keep, Delete };
inline auto describe_enum(IntentKind) {
  return json::enum_names<IntentKind>({{IntentKind::Save, "Save"},
                                       {IntentKind::Propose, "Propose"},
                                       {IntentKind::Withdraw, "Withdraw"},
                                       {IntentKind::Approve, "Approve"},
                                       {IntentKind::ProposeDeletion, "ProposeDeletion"},
                                       {IntentKind::Keep, "Keep"},
                                       {IntentKind::Delete, "Delete"}});
}

struct Intent {
  IntentKind kind = IntentKind::Save;
  std::string repository{};
  std::string path{};
  std::string workspace{};
  std::string folder{};         // of the repository
  std::string branch = "main";  // of the repository
  Lifecycle from = Lifecycle::Draft;
  std::int64_t revision = 0;  // Approve: the number it tries
  std::string seen{};         // commit of the revision's reference when it was decided; empty: there was none
  std::string commit{};       // Save: the new one; Approve: the one that is published; Delete: the one without the package
  std::string base{};         // Approve, and Delete of what the branch has: the branch's commit that `commit` was made upon
  std::string user{};         // Delete of what the branch has: who asked, and when, as the commit says
  std::optional<Time> at{};

  static void describe(auto& d) {
    d.doc("What is still to be done to the repository.");
    d.field("kind", &Intent::kind, "What was decided.").required();
    d.field("repository", &Intent::repository, "The Repository.").required();
    d.field("path", &Intent::path, "The package's path.").required();
    d.field("workspaceName", &Intent::workspace, "The revision's workspace.").required();
    d.field("folder", &Intent::folder, "The repository's folder.");
    d.field("branch", &Intent::branch, "The repository's branch.");
    d.field("from", &Intent::from, "The revision's lifecycle before.").always();
    d.field("revision", &Intent::revision, "Its number.");
    d.field("seen", &Intent::seen, "Commit of its reference when it was decided.");
    d.field("commit", &Intent::commit, "The commit that its reference gets.");
    d.field("base", &Intent::base, "The branch's commit that this one was made upon.");
    d.field("user", &Intent::user, "Who asked for it, where that is not in the approval.");
    d.field("time", &Intent::at, "When.");
  }
  bool operator==(const Intent&) const = default;

  /// It makes a commit on the repository's branch.
  bool is_about_branch() const {
    return kind == IntentKind::Approve || (kind == IntentKind::Delete && revision == kPlaceholder);
  }
};

/// The package on the branch, against what it was when its deletion was decided.
enum class OnBranch : std::uint8_t { AsSeen, Other, Gone };

/// The remote as it is.
struct StoreView {
  std::map<std::string, std::string> refs{};  // commit by name
  /// Of an intent about the branch: whether the branch contains its commit.
  bool has_commit = false;
  /// Of Delete of what the branch has. Of Approve: Other where publishing would undo what others have pushed to the branch.
  OnBranch package = OnBranch::AsSeen;
};

struct GitStep {
  enum class Kind : std::uint8_t {
    Update,      // `ref` from `expected` (empty: it must not exist) to `target` (empty: it is deleted)
    NextNumber,  // make the commit with `revision` upon the branch as it is, and append the intent anew
    Merge,       // make a commit with parents `expected` and the intent's commit, the package as in the latter (or none, as
                 // there); `ref` to it
    Confirm,     // append the end; `text`, where there is one, is what another writer has left behind
    Drift,       // another writer has changed what this was about: append that, with `text`; nothing more is done
  };
  Kind kind = Kind::Confirm;
  std::string ref{};
  std::string expected{};
  std::string target{};
  std::int64_t revision = 0;
  std::string text{};

  bool operator==(const GitStep&) const = default;
};

/// The one step that comes next. Doing it again after it was done, in part or not at all gives the same end.
GitStep next_step(const Intent& intent, const StoreView& view);

/// The message of the commit that an intent makes, with Porch's note.
std::string commit_message(const Intent& intent);

}  // namespace slipway::delivery::package

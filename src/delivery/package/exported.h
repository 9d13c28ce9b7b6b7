// Commits that this server makes of a revision's content: a new draft, the next content of one, a draft whose Kptfile catches
// up with the log, and what is published. A commit is made in the mirror; it is not seen before an intent of the record is
// carried out (worker.h).
#pragma once

#include <optional>
#include <string>

#include "base/env.h"
#include "delivery/package/content.h"
#include "delivery/package/record.h"
#include "delivery/package/repository_access.h"

namespace slipway::delivery::package {

/// The reference that holds the record's content; "" for a placeholder without one.
std::string content_ref(const RevisionRecord& record, const OpenRepository& repository);
/// The content of a record, fetched where the mirror does not have it.
Task<Result<Content>> content_of(Git& git, OpenRepository repository, RevisionRecord record);

/// The tip of the repository's branch, fetched. Nothing where there is no such branch and spec.git.createBranch is set.
Task<Result<std::optional<GitId>>> branch_tip(Git& git, OpenRepository repository);

/// A commit of a draft: on top of `parent`, with `from` in the folder there.
struct DraftCommit {
  std::optional<GitId> parent{};
  Content from{};
  Content to{};
  std::string path{};
  std::string workspace{};
  std::string user{};
  Time now{};
  GitNotes notes{};  // that its message has as trailers
};
Task<Result<GitId>> commit_draft(Git& git, OpenRepository repository, DraftCommit wanted);

/// The record with the commit and digest of another content, with a Save before whatever else is to be done at the end (a
/// proposal follows its own content). Conditions about the old content are about the new one: what differs is not the content
/// that they judge.
RevisionRecord with_saved(RevisionRecord record, const ContentView& content, const GitId& commit, const Place& place);
/// Whether a draft has notes for a commit; nothing is committed to one whose Kptfile cannot be read.
bool has_notes_to_commit(const RevisionRecord& record);
/// A draft whose Kptfile in Git says what the log says, with a commit for that, or for its notes, where it is needed.
Task<Result<RevisionRecord>> exported(Env& env, OpenRepository repository, RevisionRecord record, std::string user);
/// What RevisionRecord::exported is then.
std::string verdicts_digest(const RevisionRecord& record);
/// Whatever their order is.
std::string verdicts_digest(std::vector<std::string> gates, Conditions conditions);

/// The commit that publishes `record` as `revision` on top of `tip`; its second parent is the proposal, so that its history
/// stays. `content` has the record's verdicts in its Kptfile.
struct PublishCommit {
  std::optional<GitId> tip{};
  RevisionRecord record{};
  std::int64_t revision = 0;
  std::string user{};
  Time now{};
};
Task<Result<GitId>> commit_published(Git& git, OpenRepository repository, PublishCommit wanted);

}  // namespace slipway::delivery::package

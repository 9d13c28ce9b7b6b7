#include "delivery/package/exported.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/update.h"

namespace slipway::delivery::package {
namespace {

Task<Result<GitId>> commit(Git& git, const OpenRepository& repository, GitNewCommit wanted) {
  return git.commit(repository.remote, std::move(wanted));
}

}  // namespace

std::string content_ref(const RevisionRecord& record, const OpenRepository& repository) {
  if (record.revision == kPlaceholder) return repository.branch_ref();
  const Lifecycle at = is_published(record.lifecycle) ? Lifecycle::Published : record.lifecycle;
  return ref_of(record.key(), record.revision, at, repository.place.folder);
}

Task<Result<Content>> content_of(Git& git, OpenRepository repository, RevisionRecord record) {
  return fetch_content(git, repository.remote, repository.folder_of(record.path), record.commit,
                       content_ref(record, repository));
}

Task<Result<std::optional<GitId>>> branch_tip(Git& git, OpenRepository repository) {
  auto tip = co_await git.fetch(repository.remote, repository.branch_ref());
  if (tip) co_return std::optional(std::move(*tip));
  const bool is_made = tip.error().reason == Reason::NotFound && repository.git().creates_branch;
  if (is_made) co_return std::optional<GitId>();
  co_return fail(std::move(tip).error());
}

Task<Result<GitId>> commit_draft(Git& git, OpenRepository repository, DraftCommit wanted) {
  RevisionRecord record{.repository = repository.name, .path = wanted.path, .workspace = wanted.workspace};
  const std::string folder = repository.folder_of(wanted.path);
  GitNewCommit made{.changes = content_changes(folder, wanted.from, wanted.to),
                    .message = commit_message(intent_of(record, IntentKind::Save, repository.place)) + trailers(wanted.notes),
                    .author = repository.signer(wanted.user, wanted.now)};
  if (wanted.parent) made.parents = {*wanted.parent};
  co_return co_await commit(git, repository, std::move(made));
}

RevisionRecord with_saved(RevisionRecord record, const ContentView& content, const GitId& made, const Place& place) {
  for (Condition& one : record.conditions) {
    if (one.digest == record.digest) one.digest = content.digest();
  }
  for (Vote& vote : record.votes) {
    if (vote.digest == record.digest) vote.digest = content.digest();
  }
  Intent save{.kind = IntentKind::Save,
              .repository = record.repository,
              .path = record.path,
              .workspace = record.workspace,
              .folder = place.folder,
              .branch = place.branch,
              .from = Lifecycle::Draft,
              .revision = record.revision,
              .seen = record.commit,
              .commit = made,
              .base = {}};
  const bool ends_with_proposal = !record.intents.empty() && record.intents.back().kind == IntentKind::Propose &&
                                  record.intents.back().seen == record.commit;
  if (ends_with_proposal) record.intents.back().seen = made;
  record.intents.insert(record.intents.end() - (ends_with_proposal ? 1 : 0), std::move(save));
  record.commit = made;
  record.notes.clear();
  record.digest = content.digest();
  record.file_digests = content.file_digests();
  if (record.self_lock && record.self_lock->git) record.self_lock->git->commit = made;
  return record;
}

std::string verdicts_digest(std::vector<std::string> gates, Conditions conditions) {
  std::ranges::sort(gates);
  std::ranges::sort(conditions, {}, &Condition::type);
  std::string text;
  for (const std::string& one : gates) text += one + "\n";
  return conditions_digest(conditions).substr(0, 16) + ":" + content_digest({{"gates", text}}).substr(7, 16);
}

std::string verdicts_digest(const RevisionRecord& record) {
  std::vector<std::string> gates;
  gates.reserve(record.gates.size());
  for (const ReadinessGate& one : record.gates) gates.push_back(one.type);
  return verdicts_digest(gates, record.conditions);
}

bool has_notes_to_commit(const RevisionRecord& record) {
  return !record.notes.pending.empty() && record.render != Render::Unreadable;
}

Task<Result<RevisionRecord>> exported(Env& env, OpenRepository repository, RevisionRecord record, std::string user) {
  const std::string wanted = verdicts_digest(record);
  const bool has_notes = has_notes_to_commit(record);
  if (record.exported == wanted && !has_notes) co_return record;
  SLIPWAY_CO_TRY(git, git_of(env));
  SLIPWAY_CO_TRY(from, co_await content_of(*git, repository, record));
  Content to = from;
  if (const auto kptfile = to.files.find(kKptfile); kptfile != to.files.end()) {
    kptfile->second = with_verdicts(kptfile->second, record.gates, record.conditions);
  }
  record.exported = wanted;
  if (to.files == from.files && !has_notes) co_return record;
  DraftCommit draft{.parent = record.commit,
                    .from = std::move(from),
                    .to = to,
                    .path = record.path,
                    .workspace = record.workspace,
                    .user = std::move(user),
                    .now = env.clock.now(),
                    .notes = record.notes};
  SLIPWAY_CO_TRY(made, co_await commit_draft(*git, repository, std::move(draft)));
  co_return with_saved(std::move(record), ContentView(to.files), made, repository.place);
}

Task<Result<GitId>> commit_published(Git& git, OpenRepository repository, PublishCommit wanted) {
  SLIPWAY_CO_TRY(content, co_await content_of(git, repository, wanted.record));
  if (const auto kptfile = content.files.find(kKptfile); kptfile != content.files.end()) {
    kptfile->second = with_verdicts(kptfile->second, wanted.record.gates, wanted.record.conditions);
  }
  Intent intent = intent_of(wanted.record, IntentKind::Approve, repository.place);
  intent.revision = wanted.revision;
  GitNewCommit made{.changes = replacing_changes(repository.folder_of(wanted.record.path), content),
                    .message = commit_message(intent) + trailers(wanted.record.notes),
                    .author = repository.signer(wanted.user, wanted.now)};
  if (wanted.tip) made.parents.push_back(*wanted.tip);
  made.parents.push_back(wanted.record.commit);
  co_return co_await commit(git, repository, std::move(made));
}

}  // namespace slipway::delivery::package
